# Installs apply-patch on Windows: fetches the archive for this machine from a release, holds it against the release's checksums, and puts
# the program into a directory. Needs no administrator.
#
#   irm https://github.com/apply-patch/apply-patch/releases/latest/download/install.ps1 | iex
#   .\install.ps1 -To C:\tools -Version 0.1.0
#
# The checksums come from where the archive comes from: they find what broke on the way. Who does not trust the place itself
# checks the attestation of provenance: `gh attestation verify ARCHIVE --repo apply-patch/apply-patch`.
[CmdletBinding()]
param(
    # Where the program goes.
    [string]$To = (Join-Path $env:LOCALAPPDATA 'Programs\apply-patch'),
    # Which release; the latest unless it is given.
    [string]$Version = '',
    # Page of the releases, for a mirror.
    [string]$From = 'https://github.com/apply-patch/apply-patch/releases'
)

# In a function, so that what arrives in part does nothing.
function Install-ApplyPatch {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    # Of the system, and not of this process, which may be an emulated one.
    $processor = $env:PROCESSOR_ARCHITEW6432
    if (-not $processor) { $processor = $env:PROCESSOR_ARCHITECTURE }
    switch ($processor) {
        'AMD64' { $target = 'x86_64-pc-windows-gnu' }
        'ARM64' { $target = 'aarch64-pc-windows-gnullvm' }
        default { throw "there is no program for the processor $processor" }
    }

    $Version = $Version -replace '^v', ''
    $base = if ($Version) { "$From/download/v$Version" } else { "$From/latest/download" }
    $scratch = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $scratch | Out-Null
    try {
        $sums = Join-Path $scratch 'SHA256SUMS'
        Invoke-WebRequest -UseBasicParsing -Uri "$base/SHA256SUMS" -OutFile $sums
        $pattern = "^([0-9a-f]{64})  (apply-patch-([0-9A-Za-z.+-]+)-$([regex]::Escape($target))\.zip)$"
        $found = @(Get-Content $sums | Where-Object { $_ -cmatch $pattern })
        if ($found.Count -ne 1) { throw "the release has $($found.Count) programs for $target" }
        $null = $found[0] -cmatch $pattern
        $wanted, $archive, $named = $Matches[1], $Matches[2], $Matches[3]
        if ($Version -and $named -ne $Version) { throw "version $Version is wanted, and $base has $named" }

        $file = Join-Path $scratch $archive
        Invoke-WebRequest -UseBasicParsing -Uri "$base/$archive" -OutFile $file
        $seen = (Get-FileHash -Algorithm SHA256 -Path $file).Hash.ToLowerInvariant()
        if ($seen -ne $wanted) {
            throw "$archive is not what the release says: its SHA-256 is $seen, and $wanted is wanted. Nothing is installed"
        }
        Expand-Archive -Path $file -DestinationPath $scratch
        $program = Join-Path $scratch "$($archive -replace '\.zip$', '')\apply-patch.exe"
        $said = & $program --version
        if ($said -ne "apply-patch $named") { throw "the program says that it is $said" }

        New-Item -ItemType Directory -Force -Path $To | Out-Null
        $place = Join-Path $To 'apply-patch.exe'
        Copy-Item -Force -Path $program -Destination "$place.new"
        Move-Item -Force -Path "$place.new" -Destination $place
        Write-Output "installed ${said}: $place"
        if (($env:PATH -split ';') -notcontains $To) {
            Write-Output "$To is not in PATH: add it, or call the program by its path"
        }
    } finally {
        Remove-Item -Recurse -Force -Path $scratch
    }
}

Install-ApplyPatch
