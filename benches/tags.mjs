// Counts what edits cost a model that names lines by their tags, and one that repeats old texts.
//
// usage: node tags.mjs PROGRAM GIT_DIR... [--count N, 300 unless told]
//
// From each history, in equal parts, the newest commits that change one text file and nothing else.
// Each is written twice as arguments of `edit_file`: with old texts, the changed lines and as few
// lines around them as make them unique, and with tags. Both are sent to PROGRAM in a fresh
// directory, and have to give the file of the commit. `gpt-tokenizer`, of npm, counts tokens.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const { encode } = await import('gpt-tokenizer/encoding/o200k_base');

const MAX_BYTES = 200_000;

function git(dir, ...args) {
  return execFileSync('git', ['--git-dir', dir, ...args], { maxBuffer: 1 << 30 });
}

/** The text of a blob; null if it is not UTF-8, too large, or does not end in a line feed. */
function textOf(dir, id) {
  const bytes = git(dir, 'cat-file', 'blob', id);
  const text = bytes.toString('utf8');
  const isPlain = bytes.length <= MAX_BYTES && Buffer.from(text).equals(bytes);
  return isPlain && /^[^\0\r]*\n$/.test(text) ? text : null;
}

/** The newest changes of one file: its path, and its text before and after. */
function* changes(dir) {
  const raw = ['--raw', '--no-abbrev', '--no-renames'];
  const log = git(dir, 'log', '--no-merges', '--format=%x00', ...raw);
  for (const commit of log.toString().split('\0')) {
    const files = commit.split('\n').filter((line) => line.startsWith(':'));
    const change = files[0]?.match(/^:100644 100644 (\w+) (\w+) M\t(.+)$/);
    if (files.length !== 1 || !change || /^\.|["\\]/.test(change[3])) continue;
    const before = textOf(dir, change[1]);
    const after = textOf(dir, change[2]);
    if (before === null || after === null) continue;
    yield { path: change[3], before, after, hunks: hunks(dir, change[1], change[2]) };
  }
}

/** The changed lines: the first old one from 1, how many, and the new ones. */
function hunks(dir, before, after) {
  const diff = git(dir, 'diff', '-U0', '--no-color', before, after).toString();
  return diff.split(/^@@ -/m).slice(1).map((hunk) => {
    const [header, ...lines] = hunk.split('\n');
    const [start, count = '1'] = header.split(' ')[0].split(',');
    const added = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
    return { start: Number(start), count: Number(count), added };
  });
}

/** An edit with an old text that is in the file once. */
function byText(before, { start, count, added }, taken) {
  const lines = before.split('\n').slice(0, -1);
  let first = count === 0 ? start : start - 1;
  let last = count === 0 ? start : start - 1 + count;
  const [from, to] = [first, last];
  const textOfLines = (lines) => lines.map((line) => line + '\n').join('');
  for (let above = true; ; above = !above) {
    const old = textOfLines(lines.slice(first, last));
    const place = before.indexOf(old);
    if (old !== '' && before.indexOf(old, place + 1) === -1) {
      const text = [...lines.slice(first, from), ...added, ...lines.slice(to, last)];
      return { first, last, oldText: old, newText: textOfLines(text) };
    }
    // No line of another edit.
    if (above && first > taken) first -= 1;
    else if (last < lines.length) last += 1;
    else if (first > taken) first -= 1;
    else return null;
  }
}

function edits(change) {
  const all = [];
  let taken = 0;
  for (const hunk of change.hunks) {
    const edit = byText(change.before, hunk, taken);
    if (edit === null || (all.length > 0 && edit.first < taken)) return null;
    taken = edit.last;
    all.push(edit);
  }
  // An edit that reaches into the next hunk cannot be sent.
  const reaches = all.some((edit, nth) => change.hunks[nth + 1]?.start - 1 < edit.last);
  if (reaches) return null;
  return all.map(({ oldText, newText }) => ({ oldText, newText }));
}

/** The same edits by the tags that were printed. */
function byTags(change, printed) {
  const name = (number) => printed[number - 1].slice(0, printed[number - 1].indexOf('|'));
  return change.hunks.map(({ start, count, added }) => {
    const newText = added.join('\n') + (added.at(-1) === '' ? '\n' : '');
    if (count === 0) return { after: start === 0 ? '0' : name(start), newText };
    const to = count === 1 ? {} : { to: name(start + count - 1) };
    return { from: name(start), ...to, newText };
  });
}

function call(program, dir, tool, args) {
  const line = ['-C', join(dir, 'ws'), 'tool', tool, '--session', 'bench', '--args', '-'];
  const answer = execFileSync(program, line, { input: JSON.stringify(args), maxBuffer: 1 << 30 });
  return JSON.parse(answer).data;
}

const args = process.argv.slice(2);
const option = args.indexOf('--count');
const count = option < 0 ? 300 : Number(args.splice(option, 2)[1]);
const [program, ...histories] = args;
const rows = {
  edits: 0, left: 0, text: 0, tags: 0, old: 0, read: 0, numbers: 0, tagged: 0, lines: 0, short: 0,
};
const shares = [];
for (const history of histories) {
  let wanted = Math.floor(count / histories.length);
  for (const change of changes(history)) {
    if (wanted === 0) break;
    const texts = edits(change);
    if (texts === null) {
      rows.left += 1;
      continue;
    }
    wanted -= 1;
    const dir = mkdtempSync(join(tmpdir(), 'tags-'));
    const file = join(dir, 'ws', change.path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, change.before);
    const { path } = change;
    const whole = { path, maxBytes: 1 << 24 };
    const plain = call(program, dir, 'read_file', whole).content;
    const numbered = call(program, dir, 'read_file', { ...whole, lineNumbers: true }).content;
    const printed = call(program, dir, 'read_file', { ...whole, tags: true }).content;
    const ways = { text: texts, tags: byTags(change, printed.split('\n')) };
    const sizes = {};
    for (const [way, edits] of Object.entries(ways)) {
      writeFileSync(file, change.before);
      call(program, dir, 'edit_file', { path, edits });
      if (readFileSync(file, 'utf8') !== change.after) throw new Error(`${way}: ${path}`);
      sizes[way] = encode(JSON.stringify({ path, edits })).length;
      rows[way] += sizes[way];
    }
    shares.push(sizes.tags / sizes.text);
    rows.old += texts.reduce((sum, { oldText }) => sum + encode(oldText).length, 0);
    rows.edits += 1;
    rows.lines += plain.split('\n').length - 1;
    rows.short += printed.split('\n').filter((line) => /^\d+#..\|/.test(line)).length;
    rows.read += encode(plain).length;
    rows.numbers += encode(numbered).length;
    rows.tagged += encode(printed).length;
    rmSync(dir, { recursive: true });
  }
}
shares.sort((one, other) => one - other);
const at = (part) => shares[Math.floor((shares.length - 1) * part)].toFixed(2);
console.log(rows);
const ratio = (rows.tags / rows.text).toFixed(2);
console.log(`tags / texts: ${ratio} in all; quartiles ${at(0.25)}, ${at(0.5)}, ${at(0.75)}`);
const perLine = (tokens) => ((tokens - rows.read) / rows.lines).toFixed(2);
const [number, tag] = [perLine(rows.numbers), perLine(rows.tagged)];
console.log(`a line: ${number} tokens for its number, ${tag} for number and tag`);
