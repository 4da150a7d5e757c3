/**
 * Loaded by `node --import` into the processes of stages, adds a line to the file COUNT_INFERENCES per inference of ONNX Runtime:
 * the process, its plugin, and the processor time in microseconds that it has used so far.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import ort from 'onnxruntime-node';

const to = process.env.COUNT_INFERENCES ?? '';
// A stage runs in the folder `scratch` beside its action document.
const action = '../action.json';
const plugin = existsSync(action) ? (JSON.parse(readFileSync(action, 'utf8')) as { readonly plugin: string }).plugin : 'none';

const { create } = ort.InferenceSession;
ort.InferenceSession.create = (async (...given: Parameters<typeof create>) => {
  const session = await create(...given);
  const run = session.run.bind(session);
  return Object.assign(session, {
    run(...feeds: Parameters<typeof run>) {
      note('inference');
      return run(...feeds);
    },
  });
}) as typeof create;
process.on('exit', () => note('end'));

function note(what: 'inference' | 'end'): void {
  const { user, system } = process.cpuUsage();
  appendFileSync(to, `${process.pid} ${plugin} ${what} ${user + system}\n`);
}
