/** Users of one model file share a session, which closes with the last of them. */
import { linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenModel } from '../../../src/runtime/session/session.js';
import { shareSessions } from '../../../src/runtime/session/shared-sessions.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-shared-sessions-'));
  writeFileSync(join(folder, 'a.onnx'), 'a');
  linkSync(join(folder, 'a.onnx'), join(folder, 'same.onnx'));
  writeFileSync(join(folder, 'b.onnx'), 'a');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Records what is opened and closed, in order. */
function makeOpen(fail = false): { readonly open: OpenModel; readonly events: string[] } {
  const events: string[] = [];
  const open: OpenModel = async model => {
    const name = typeof model === 'string' ? model.slice(folder.length + 1) : 'bytes';
    events.push(`open ${name}`);
    if (fail) throw new Error(`cannot open ${name}`);
    return {
      inputNames: [],
      outputNames: [],
      run: async () => ({}),
      close: async () => {
        events.push(`close ${name}`);
      },
    };
  };
  return { open, events };
}

const ALL = { optimization: 'all' } as const;

test('one file under two names is opened once, and closed with its last user', async () => {
  const { open, events } = makeOpen();
  const shared = shareSessions(open);
  const [one, other] = await Promise.all([shared(join(folder, 'a.onnx'), ALL), shared(join(folder, 'same.onnx'), ALL)]);
  await one.close();
  await one.close();
  expect(events).toHaveLength(1);
  await other.close();
  expect(events).toEqual([events[0], (events[0] ?? '').replace('open', 'close')]);
});

test('other files, options and bytes have sessions of their own', async () => {
  const { open, events } = makeOpen();
  const shared = shareSessions(open);
  await shared(join(folder, 'a.onnx'), ALL);
  await shared(join(folder, 'b.onnx'), ALL);
  await shared(join(folder, 'a.onnx'), { optimization: 'basic' });
  await shared(new Uint8Array(1), ALL);
  await shared(new Uint8Array(1), ALL);
  expect(events).toEqual(['open a.onnx', 'open b.onnx', 'open a.onnx', 'open bytes', 'open bytes']);
});

test('a closed file is opened again', async () => {
  const { open, events } = makeOpen();
  const shared = shareSessions(open);
  await (await shared(join(folder, 'a.onnx'), ALL)).close();
  await shared(join(folder, 'a.onnx'), ALL);
  expect(events).toEqual(['open a.onnx', 'close a.onnx', 'open a.onnx']);
});

test('every user of a file that cannot be opened gets its error, and the next try opens it again', async () => {
  const { open, events } = makeOpen(true);
  const shared = shareSessions(open);
  const tries = await Promise.allSettled([shared(join(folder, 'a.onnx'), ALL), shared(join(folder, 'a.onnx'), ALL)]);
  expect(tries.map(one => one.status)).toEqual(['rejected', 'rejected']);
  const { length } = events;
  await expect(shared(join(folder, 'a.onnx'), ALL)).rejects.toThrow('cannot open a.onnx');
  expect(events).toHaveLength(length + 1);
  await expect(shared(join(folder, 'gone.onnx'), ALL)).rejects.toThrow('cannot open gone.onnx');
});
