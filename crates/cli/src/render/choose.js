// The command that reverts the chosen hunks.
const command = document.getElementById('command');

function show() {
  const chosen = [...document.querySelectorAll('.choice input:checked')].map((box) => box.value);
  const { before, after } = command.dataset;
  command.textContent = `${before} --revert ${chosen.join(',') || 'HUNK'}${after}`;
}

document.addEventListener('change', show);
show();
