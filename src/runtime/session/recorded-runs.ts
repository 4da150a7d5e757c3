/** Runs of sessions, recorded in the order in which a program made them, and sessions that answer from such a record instead of running their models. */
import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { anyList, anyText, integer, mapOf, object } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { byteLength } from '../../tensor/dtype.js';
import { decodeSafetensors, encodeSafetensors } from '../../tensor/formats/safetensors.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements } from '../../tensor/shape.js';
import type { RawTensor } from '../../tensor/tensor.js';
import type { NamedTensors } from './model-inputs.js';
import { RuntimeError } from './runtime-error.js';
import type { OpenModel, Session } from './session.js';

/** Sessions are numbered in the order in which they were opened. */
export interface RecordedRuns {
  readonly sessions: readonly SessionNames[];
  readonly runs: readonly RecordedRun[];
}

type SessionNames = Pick<Session, 'inputNames' | 'outputNames'>;

interface RecordedRun {
  readonly session: number;
  readonly outputs: NamedTensors;
}

export interface Recorder {
  /** Opens models whose runs are recorded. */
  readonly open: OpenModel;
  /** The sessions, and their runs since the last call. */
  take(): RecordedRuns;
}

export function recordRuns(open: OpenModel): Recorder {
  const sessions: SessionNames[] = [];
  let runs: RecordedRun[] = [];
  return {
    async open(model, options) {
      const opened = await open(model, options);
      const session = sessions.push({ inputNames: opened.inputNames, outputNames: opened.outputNames }) - 1;
      return {
        ...opened,
        async run(feeds, fetches) {
          const outputs = await opened.run(feeds, fetches);
          runs.push({ session, outputs });
          return outputs;
        },
      };
    },
    take() {
      const taken = runs;
      runs = [];
      return { sessions: [...sessions], runs: taken };
    },
  };
}

/**
 * Opens models as recorded: the sessions in their order, and each run gives the recorded outputs of the next one. The caller repeats what was recorded,
 * with equal inputs, which are not looked at.
 * @throws RuntimeError `bad-record` at a run that was not recorded there.
 */
export function replayRuns({ sessions, runs }: RecordedRuns): OpenModel {
  let [opened, next] = [0, 0];
  return async () => {
    const number = opened++;
    const names = sessions[number];
    if (names === undefined) throw badRecord(`it has ${sessions.length} models, and a further one is opened`);
    return {
      ...names,
      async run(_, fetches) {
        const run = runs[next++];
        if (run?.session !== number) throw badRecord(`run ${next} is not one of model ${number}`);
        const lost = fetches?.find(name => !Object.hasOwn(run.outputs, name));
        if (lost !== undefined) throw badRecord(`run ${next} has no output "${lost}"`);
        return run.outputs;
      },
      close: async () => undefined,
    };
  };
}

/** Bytes of all outputs. */
export function sizeOfRuns({ runs }: RecordedRuns): number {
  const sizes = runs.flatMap(({ outputs }) => Object.values(outputs).map(({ dtype, dims }) => byteLength(dtype, countElements(dims))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const RECORD = object({
  sessions: anyList(object({ inputNames: anyList(anyText()), outputNames: anyList(anyText()) })),
  runs: anyList(object({ session: integer(0), outputs: mapOf(anyText(), { description: 'Name of the stored tensor.' }) })),
});

const readRecord = readerOf(RECORD);

/** Key of the record in the metadata of the file, which has the tensors. */
const KEY = 'record';

/** As bytes of a .safetensors file. @throws TensorError `safetensors-unsupported`, `no-raw-form` for data types that it does not store. */
export function encodeRuns({ sessions, runs }: RecordedRuns): Uint8Array {
  const tensors = new Map<string, RawTensor>();
  const store = (outputs: NamedTensors): Record<string, string> =>
    Object.fromEntries(
      Object.entries(outputs).map(([name, tensor]) => {
        const stored = String(tensors.size);
        tensors.set(stored, encodeRawTensor(tensor));
        return [name, stored];
      }),
    );
  const record: FromSchema<typeof RECORD> = {
    sessions: sessions.map(({ inputNames, outputNames }) => ({ inputNames: [...inputNames], outputNames: [...outputNames] })),
    runs: runs.map(({ session, outputs }) => ({ session, outputs: store(outputs) })),
  };
  return encodeSafetensors(tensors, new Map([[KEY, JSON.stringify(record)]]));
}

/** @throws RuntimeError `bad-record`; TensorError as decodeSafetensors. */
export function decodeRuns(bytes: Uint8Array): RecordedRuns {
  const { tensors, metadata } = decodeSafetensors(bytes);
  const read = readJsonShape(readRecord, parseJson(metadata.get(KEY) ?? ''));
  if (read.kind === 'problems') throw badRecord(formatJsonProblems(read.problems).slice(0, 3).join('; '));
  const load = (name: string) => {
    const raw = tensors.get(name);
    if (raw === undefined) throw badRecord(`it has no tensor ${name}`);
    return decodeRawTensor(raw);
  };
  const runs = read.value.runs.map(({ session, outputs }) => ({
    session,
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, stored]) => [name, load(stored)])),
  }));
  return { sessions: read.value.sessions, runs };
}

function badRecord(reason: string): RuntimeError {
  return new RuntimeError('bad-record', `the record of the runs of a model does not fit: ${reason}`, {
    help: 'build the stage again with `--force`',
  });
}
