const files = [...document.querySelectorAll('.file')];
const keys = document.getElementById('keys');
const button = document.getElementById('show-keys');

// Of a large page, the browser has read only the first files so far: the others are texts. They are
// read a few at a time, so that the page answers meanwhile.
const unread = [...document.querySelectorAll('.file > noscript')].reverse();

function read(file) {
  const text = file && file.querySelector('noscript');
  if (text) text.outerHTML = text.textContent;
}

function readMore() {
  const end = performance.now() + 20;
  while (unread.length && performance.now() < end) read(unread.pop().parentElement);
  if (unread.length) setTimeout(readMore);
}

// The file that has the focus, or else the one at the top of the window; -1 above all of them.
function current() {
  const focused = document.activeElement.closest('.file');
  const shown = focused && focused.getBoundingClientRect();
  if (shown && shown.bottom > 0 && shown.top < innerHeight) return files.indexOf(focused);
  const top = document.elementFromPoint(innerWidth / 2, 1);
  return files.indexOf(top && top.closest('.file'));
}

function go(index) {
  const file = files[index];
  if (!file) return;
  read(file);
  file.scrollIntoView();
  file.firstElementChild.focus({ preventScroll: true });
}

const actions = {
  j: () => go(current() + 1),
  k: () => go(current() - 1),
  c: () => {
    const file = files[current()];
    if (file) file.open = !file.open;
  },
  '?': () => keys.showModal(),
};

document.addEventListener('keydown', (event) => {
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  event.preventDefault();
  action();
});
addEventListener('hashchange', () => read(document.getElementById(location.hash.slice(1))));
button.addEventListener('click', actions['?']);
button.hidden = false;
readMore();
