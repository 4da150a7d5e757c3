/** Edits of the page: undone by a later server too, as long as the file is as an edit left it, and never with a damaged text. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import type { Edit } from '../../../src/web/edit/edit-schema.js';
import { type EditSession, openEdits } from '../../../src/web/edit/edit-session.js';
import { failureOf } from '../../support/error-code.js';

const TEXT = 'version: 1\nstages:\n  quantize: {uses: quantize, with: {preset: xint8}} # kept\n';
const PLACE = { group: 'quantize', item: undefined };

const exclude = (value: string): Edit => ({ kind: 'exclude', stage: 'quantize', value });

let folder: string;
const file = (): string => join(folder, 'pipeline.yaml');
const kept = (): string => join(folder, 'state/edits.json');
const text = (): string => readFileSync(file(), 'utf8');
const open = (): EditSession => openEdits(file(), async () => [], kept());
const digest = (): string => digestBytes(text());

/** Applies an edit as a page does. @returns the file that it left. */
async function apply(edits: EditSession, value: string): Promise<string> {
  const { digest } = await edits.preview(exclude(value), PLACE);
  await edits.apply(exclude(value), PLACE, digest);
  return text();
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edits-'));
  writeFileSync(file(), TEXT);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('edits of the page', () => {
  it('are undone by a later server, one after the other', async () => {
    const before = open();
    const first = await apply(before, 'a');
    await apply(before, 'b');
    const later = open();
    expect(later.undoable()?.place).toMatch(/^stages\.quantize\.with\.exclude/);
    later.undo(digest());
    expect(text()).toBe(first);
    open().undo(digest());
    expect(text()).toBe(TEXT);
    expect(open().undoable()).toBeUndefined();
    // The server that runs beside has the same list.
    expect(before.undoable()).toBeUndefined();
  });

  it('are not undone where the file was changed since, and again once it is as an edit left it', async () => {
    const first = await apply(open(), 'a');
    writeFileSync(file(), `${first}# by hand\n`);
    expect(open().undoable()).toBeUndefined();
    expect((await failureOf(() => open().undo(digest()))).code).toBe('ui-edit-changed');
    expect(text()).toBe(`${first}# by hand\n`);
    writeFileSync(file(), first);
    open().undo(digest());
    expect(text()).toBe(TEXT);
  });

  it('that cannot be written are refused with what the system says, and the file stays as it is', async () => {
    // A file where the folder of the kept edits should be: as with a full disk, nothing can be written there.
    writeFileSync(join(folder, 'state'), '');
    const failure = await failureOf(() => apply(open(), 'a'));
    expect(failure.code).toBe('ui-edit-not-written');
    expect(failure.message).toMatch(/^the edit cannot be written: E/);
    expect(text()).toBe(TEXT);
    expect(readdirSync(folder).sort()).toEqual(['pipeline.yaml', 'state']);
  });

  it('are taken back by name: where another edit was written after one, that one stays', async () => {
    const [one, other] = [open(), open()];
    const place = { group: 'quantize', item: undefined };
    const write = async (edits: EditSession, value: string) => {
      const { digest } = await edits.preview(exclude(value), place);
      return edits.apply(exclude(value), place, digest);
    };
    const first = await write(one, 'a');
    const afterFirst = text();
    const second = await write(other, 'b');
    const afterSecond = text();
    const failure = await failureOf(() => one.undo(first.left));
    expect([failure.code, failure.message]).toEqual(['ui-edit-changed', expect.stringContaining(`by the edit of ${second.place}`)]);
    expect(text()).toBe(afterSecond);
    expect(one.undoable()).toEqual(second);
    other.undo(second.left);
    expect(text()).toBe(afterFirst);
    one.undo(first.left);
    expect(text()).toBe(TEXT);
    expect((await failureOf(() => other.undo(first.left))).message).toMatch(/changed after it$/);
  });

  it('that were kept but never written do not hide those before', async () => {
    const first = await apply(open(), 'a');
    await apply(open(), 'b');
    writeFileSync(file(), first);
    open().undo(digest());
    expect(text()).toBe(TEXT);
  });

  it.each([
    ['no JSON', (one: string) => one.slice(0, -9)],
    ['another text than was replaced', (one: string) => one.replace('xint8', 'a8w8')],
    ['another format', (one: string) => one.replace('"format":1', '"format":2')],
  ])('in a file with %s are none', async (_, damage) => {
    await apply(open(), 'a');
    const before = readFileSync(kept(), 'utf8');
    writeFileSync(kept(), damage(before));
    expect(readFileSync(kept(), 'utf8')).not.toBe(before);
    expect(open().undoable()).toBeUndefined();
  });

  it('are kept where only the owner reads them', async () => {
    await apply(open(), 'a');
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
  });
});
