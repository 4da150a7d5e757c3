/** The process that computes values for the page: its failures, its queue, and its end. The process is a double that does what it is asked. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProcessQueue } from '../../../src/web/model/one-process.js';
import { openTensorReader, type TensorReader } from '../../../src/web/model/read-tensor.js';
import type { TensorOrder } from '../../../src/web/model/tensor-view.js';

/** The value says what the process does; `model` is a file that gets its process id. */
const DOUBLE = `
const { writeFileSync } = require('node:fs');
process.once('message', ({ value, model }) => {
  writeFileSync(model, String(process.pid));
  const view = { dims: [1], samples: ['a'], own: { value, base64: '' } };
  const answer = answer => process.send(answer, () => process.disconnect());
  if (value === 'refuse') answer({ kind: 'refused', code: 'model-run', message: 'no', help: 'other' });
  else if (value === 'defect') answer({ kind: 'failed', message: 'x is not y', stack: 'TypeError: x is not y\\n  at here' });
  else if (value === 'die') { process.stderr.write('out of memory'); process.stderr.end(() => process.abort()); }
  else if (value === 'hang') setInterval(() => {}, 1000);
  else answer({ kind: 'done', result: view });
});
`;

describe('the reader of values', () => {
  let root: string;
  let reader: TensorReader;
  const never = new AbortController().signal;
  const order = (value: string, name = value): TensorOrder => ({
    model: join(root, `${name}.pid`),
    other: undefined,
    value,
    fed: { kind: 'captured', folder: '', sample: 0 },
  });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'read-tensor-'));
    mkdirSync(join(root, 'src/web/model'), { recursive: true });
    writeFileSync(join(root, 'src/web/model/tensor-process.js'), DOUBLE);
    reader = openTensorReader(root);
  });

  afterEach(() => {
    reader.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('gives the answer, the code of a refusal, and the words of a defect and of a process that died', async () => {
    expect(await reader.read(order('conv1'), never)).toEqual({ dims: [1], samples: ['a'], own: { value: 'conv1', base64: '' } });
    await expect(reader.read(order('refuse'), never)).rejects.toMatchObject({ code: 'model-run', message: 'no', help: 'other' });
    await expect(reader.read(order('defect'), never)).rejects.toMatchObject({
      message: 'the value cannot be computed: x is not y',
      stack: 'TypeError: x is not y\n  at here',
    });
    await expect(reader.read(order('die'), never)).rejects.toThrow(/ended \(SIGABRT\): .*out of memory/);
  });

  it('ends work that takes longer than its limit, and names what gives the answer', async () => {
    const limit = { longestMs: 300, help: 'run the command' };
    const queue = openProcessQueue<TensorOrder, object>(join(root, 'src/web/model/tensor-process.js'), { what: 'it', many: 'they' }, limit);
    await expect(queue.read(order('hang'), never)).rejects.toMatchObject({ code: 'ui-too-large', help: 'run the command' });
    queue.close();
  });

  it('ends the process of a client that left, computes nothing for those that left while they waited, and goes on', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const hanging = reader.read(order('hang'), first.signal);
    const waiting = reader.read(order('waits'), second.signal);
    const pid = await pidIn(order('hang').model);
    second.abort();
    first.abort();
    expect(await Promise.all([hanging, waiting])).toEqual(['left', 'left']);
    expect(isRunning(pid)).toBe(false);
    expect(await reader.read(order('next'), never)).toMatchObject({ own: { value: 'next' } });
    expect(existsSync(order('waits').model)).toBe(false);
  });

  it('refuses more than 8 at once, and leaves no process and no waiting client when it is closed', async () => {
    const open = Array.from({ length: 8 }, (_, index) => reader.read(order('hang', `hang${index}`), never));
    await expect(reader.read(order('ninth'), never)).rejects.toMatchObject({ code: 'ui-too-many', status: 503 });
    const pid = await pidIn(order('hang', 'hang0').model);
    reader.close();
    expect(await Promise.all(open)).toEqual(Array.from({ length: 8 }, () => 'left'));
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(order('hang', 'hang1').model)).toBe(false);
  });
});

async function pidIn(path: string): Promise<number> {
  await until(() => existsSync(path) && readFileSync(path, 'utf8') !== '');
  return Number(readFileSync(path, 'utf8'));
}

/** A process that does not exist takes no signal. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 10));
}
