"""The image for containers: the static program and nothing else, as a tar of the OCI image layout. No daemon is needed.

`skopeo copy --all oci-archive:FILE docker://REGISTRY/NAME:TAG` uploads it, and podman and docker load it.
"""

import hashlib
import json
import time
from pathlib import Path

from contents import compress, tar
from project import IMAGE, LICENCES, MCP_NAME, NAME, ROOT, Project, Target

OCI = "application/vnd.oci.image"
# Where the workspace is mounted.
WORK = "work"


def image(project: Project, programs: dict[Target, Path], out: Path) -> Path | None:
    """Writes the image for all Linux programs; none if there is no such program."""
    blobs: dict[str, bytes] = {}

    def blob(kind: str, content: bytes) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    def in_json(kind: str, content: object) -> dict:
        return blob(kind, json.dumps(content, sort_keys=True).encode())

    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(project.time))
    about = {
        "org.opencontainers.image.title": NAME,
        "org.opencontainers.image.description": project.description,
        "org.opencontainers.image.version": project.version,
        "org.opencontainers.image.licenses": project.licence,
        "org.opencontainers.image.source": project.repository,
        "org.opencontainers.image.created": moment,
        # The registry of MCP servers looks for it.
        "io.modelcontextprotocol.server.name": MCP_NAME,
    }
    manifests = []
    for target, program in programs.items():
        if target.system != "linux":
            continue
        files = {NAME: (program.read_bytes(), 0o755)}
        files |= {f"usr/share/doc/{NAME}/{name}": ((ROOT / name).read_bytes(), 0o644) for name in LICENCES}
        directories = {"usr": 0o755, "usr/share": 0o755, "usr/share/doc": 0o755, f"usr/share/doc/{NAME}": 0o755}
        # Whoever the container runs as may write there. It is not sticky, as what is shared and never taken for a project.
        layer = tar(files, project.time, directories | {"tmp": 0o1777, WORK: 0o777})
        platform = {"os": "linux", "architecture": target.go}
        config = {
            **platform,
            "created": moment,
            "config": {"Entrypoint": [f"/{NAME}"], "WorkingDir": f"/{WORK}", "Labels": about},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
            "history": [{"created": moment, "created_by": "packaging/release/image.py"}],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{OCI}.manifest.v1+json",
            "config": in_json(f"{OCI}.config.v1+json", config),
            "layers": [blob(f"{OCI}.layer.v1.tar+gzip", compress(layer))],
            "annotations": about,
        }
        manifests.append(in_json(f"{OCI}.manifest.v1+json", manifest) | {"platform": platform})
    if not manifests:
        return None
    whole = {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": manifests, "annotations": about}
    names = {"org.opencontainers.image.ref.name": project.version, "io.containerd.image.name": f"{IMAGE}:{project.version}"}
    index = {
        "schemaVersion": 2,
        "mediaType": f"{OCI}.index.v1+json",
        "manifests": [in_json(f"{OCI}.index.v1+json", whole) | {"annotations": names}],
    }
    files = {f"blobs/sha256/{digest}": (content, 0o644) for digest, content in blobs.items()}
    files["index.json"] = (json.dumps(index).encode(), 0o644)
    files["oci-layout"] = (b'{"imageLayoutVersion": "1.0.0"}', 0o644)
    path = out / f"{NAME}-{project.version}-oci.tar"
    path.write_bytes(tar(files, project.time))
    return path
