/** Golden values: the outputs that the board should compute for given inputs, and the values between parts, from ONNX Runtime. */
import { getDefined } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { openSession, type Session } from '../../runtime/session/session.js';
import { writeNpz } from '../../tensor/formats/npz.js';
import type { Tensor } from '../../tensor/tensor.js';
import { type MergedOutputs, takeApart } from './merged-outputs.js';

export type GoldenFeeds = Readonly<Record<string, Tensor>>;

/** 'border': a value between two parts. */
export type GoldenRole = 'input' | 'output' | 'border';

export type GoldenArray = {
  readonly role: GoldenRole;
  /** The value's name in the models. */
  readonly name: string;
  /** The array's name in the file. */
  readonly array: string;
  readonly dtype: string;
  readonly dims: readonly number[];
};

/** Up to this optimization level, running the parts in sequence gives the bits of the whole model. */
export const GOLDEN_OPTIMIZATION = 'basic';

/** The parts of one model with open sessions. */
export interface GoldenModel {
  /** Runs the parts in sequence. @returns every value that crosses a border, by name. */
  compute(feeds: GoldenFeeds): Promise<ReadonlyMap<string, Tensor>>;
  close(): Promise<void>;
}

/** @param parts in execution order. */
export async function openGoldenModel(parts: readonly Model[]): Promise<GoldenModel> {
  const sessions: Session[] = [];
  const close = async (): Promise<void> => {
    for (const session of sessions) await session.close();
  };
  try {
    for (const part of parts) sessions.push(await openSession(encodeModel(part), { optimization: GOLDEN_OPTIMIZATION }));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async compute(feeds) {
      const values = new Map(Object.entries(feeds));
      for (const session of sessions) {
        const own = Object.fromEntries(session.inputNames.map(name => [name, getDefined(values.get(name), `value ${name}`)]));
        for (const [name, tensor] of Object.entries(await session.run(own))) values.set(name, tensor);
      }
      return values;
    },
    close,
  };
}

/** Writes one sample to `path`: all values, or only inputs and outputs. @returns its arrays. */
export async function writeGoldenSample(
  path: string,
  whole: Model,
  given: ReadonlyMap<string, Tensor>,
  { kept, merged }: { readonly kept: 'all' | 'ends'; readonly merged: MergedOutputs | undefined },
): Promise<readonly (GoldenArray & JsonObject)[]> {
  const joined = merged === undefined ? undefined : given.get(merged.name);
  const apart = merged === undefined || joined === undefined ? new Map<string, Tensor>() : takeApart(merged, joined);
  // A merged output is not compared itself; its outputs are, by name.
  const values = new Map([...[...given].filter(([name]) => name !== merged?.name), ...apart]);
  const roles = new Map([...rolesOf(whole), ...[...apart.keys()].map(name => [name, 'output' as const] as const)]);
  const arrays = new Map<string, Tensor>();
  const listed = [...values].flatMap(([name, tensor], index) => {
    const role = roles.get(name) ?? ('border' as const);
    if (kept === 'ends' && role === 'border') return [];
    const array = `v${String(index).padStart(3, '0')}`;
    arrays.set(array, tensor);
    return [{ role, name, array, dtype: tensor.dtype, dims: tensor.dims }];
  });
  await writeNpz(path, arrays);
  return listed;
}

function rolesOf({ graph }: Model): ReadonlyMap<string, GoldenRole> {
  const named = (ids: readonly Model['graph']['inputs'][number][], role: GoldenRole) =>
    ids.map(id => [getValue(graph, id).name, role] as const);
  return new Map([...named(graph.inputs, 'input'), ...named(graph.outputs, 'output')]);
}
