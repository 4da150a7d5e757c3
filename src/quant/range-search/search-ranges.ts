/** Searches the ranges of each block together: tensor after tensor, the range with the least error of the block's ends is kept. */
import { getDefined, invariant } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Constant, Graph, Model } from '../../onnx/ir/model.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import type { QuantizationReport } from '../report/report-entries.js';
import { findSteps } from '../sensitivity/find-steps.js';
import type { RangeOverride } from '../widening/widened-types.js';
import { type BlockSweep, openBlockSweep } from './block-sweep.js';
import { cutSearchBlocks } from './search-blocks.js';
import type { SearchedBlock } from './searched-block.js';
import { findSearchedTensors, type SearchedTensor } from './searched-tensors.js';

export interface RangeSearchRequest {
  readonly float: Model;
  /** Quantizes a copy of the float model with these overrides after those of its settings. */
  quantize(overrides: readonly RangeOverride[]): { readonly model: Model; readonly report: QuantizationReport };
  /** Inputs of each sample, by the input names of the float model. */
  readonly samples: (model: Model) => readonly (() => Promise<NamedTensors>)[];
  /** An empty folder. */
  readonly folder: string;
  readonly settings: RangeSearchSettings;
}

export interface RangeSearchSettings {
  /** The most layers of a block. */
  readonly layers: number;
  /** How often the tensors of a block take turns. */
  readonly rounds: number;
  /** Whether ranges of weights are searched too. */
  readonly weights: boolean;
}

export interface RangeSearcher {
  /** Number of blocks. */
  readonly count: number;
  /** Index of the next block. */
  next(): number;
  /** Tensors that span several blocks. */
  readonly skipped: readonly string[];
  /** Searches the next block. @throws RuntimeError `model-run`; QuantError `not-finite` for an end of the block, and as `quantize`. */
  search(): Promise<SearchedBlock>;
  /** Repeats a known result of the next block. */
  repeat(overrides: readonly RangeOverride[]): Promise<void>;
}

export async function openRangeSearcher({ float, quantize, samples, folder, settings }: RangeSearchRequest): Promise<RangeSearcher> {
  const narrow = quantize([]);
  const models = findSteps(float, narrow.model);
  const blocks = cutSearchBlocks(models, settings.layers);
  const { byBlock, skipped } = findSearchedTensors({ models, blocks, report: narrow.report, weights: settings.weights });
  const sweep = await openBlockSweep({
    models,
    blocks,
    samples: { float: samples(models.float), quantized: samples(models.quantized) },
    folder,
  });
  const [unmet, nodes] = [countUnmet(narrow.report), listNodes(narrow.model.graph)];
  let kept: readonly RangeOverride[] = [];
  const apply = (overrides: readonly RangeOverride[]): boolean => {
    const { model, report } = quantize([...kept, ...overrides]);
    const isLike = countUnmet(report) <= unmet && listNodes(model.graph) === nodes;
    return isLike && copyConstants(model.graph, models.quantized.graph, sweep.open());
  };
  const searchNext = async (): Promise<SearchedBlock> => {
    const index = sweep.next();
    const ends = getDefined(blocks[index], 'next block').ends.map(({ value }) => value.name);
    const before = await sweep.measure(Number.POSITIVE_INFINITY);
    const tensors = byBlock[index] ?? [];
    const found = await searchBlock({ tensors, before, rounds: settings.rounds }, { sweep, apply });
    invariant(apply(found.overrides), 'ranges that were tried can be applied');
    await sweep.advance();
    kept = [...kept, ...found.overrides];
    return { ends, error: { before, after: found.error }, tensors: tensors.length, trials: found.trials, overrides: found.overrides };
  };
  const repeatNext = async (overrides: readonly RangeOverride[]): Promise<void> => {
    invariant(apply(overrides), 'ranges that were kept can be applied');
    await sweep.advance();
    kept = [...kept, ...overrides];
  };
  return {
    count: blocks.length,
    next: sweep.next,
    skipped,
    search: () => sweep.during(searchNext),
    repeat: overrides => sweep.during(() => repeatNext(overrides)),
  };
}

const countUnmet = ({ positions }: QuantizationReport): number => positions?.unmet.length ?? 0;

/** A range can decide whether an activation function has a node: the search keeps to one graph. */
function listNodes({ nodes, values }: Graph): string {
  return [...nodes.values()].map(({ opType, outputs: [output] }) => `${opType} ${output && values.get(output)?.name}`).join('\n');
}

interface BlockRequest {
  readonly tensors: readonly SearchedTensor[];
  readonly before: number;
  readonly rounds: number;
}

interface Trials {
  readonly sweep: BlockSweep;
  /** Whether the ranges can be applied: they change nothing before the block. */
  apply(overrides: readonly RangeOverride[]): boolean;
}

/** The farthest move of a range: 15 twentieths of its width, or so many positions. */
const FARTHEST = { any: 15, 'powers-of-two': 4 } as const;

/** Ranges first move by a tenth of their width, and in later rounds by a twentieth. */
function stepOf({ scales }: SearchedTensor, round: number): number {
  return scales === 'any' && round === 0 ? 2 : 1;
}

async function searchBlock({ tensors, before, rounds }: BlockRequest, { sweep, apply }: Trials) {
  const moves = new Map<SearchedTensor, number>();
  const overridesOf = (of: ReadonlyMap<SearchedTensor, number>): readonly RangeOverride[] =>
    tensors.flatMap(tensor => ((of.get(tensor) ?? 0) === 0 ? [] : (tensor.at(of.get(tensor) ?? 0) ?? [])));
  let [error, trials] = [before, 0];
  /** Whether the move lowers the error; it is kept then. */
  const tryMove = async (tensor: SearchedTensor, to: number): Promise<boolean> => {
    if (Math.abs(to) > FARTHEST[tensor.scales] || (to !== 0 && tensor.at(to) === undefined)) return false;
    const trial = new Map([...moves, [tensor, to]]);
    if (!apply(overridesOf(trial))) return false;
    trials++;
    const own = await sweep.measure(error);
    if (!(own < error)) return false;
    error = own;
    moves.set(tensor, to);
    return true;
  };
  for (let round = 0; round < rounds; round++) {
    let isLower = false;
    for (const tensor of tensors) {
      for (const direction of [-1, 1]) {
        const step = direction * stepOf(tensor, round);
        const from = moves.get(tensor) ?? 0;
        let to = from + step;
        while (await tryMove(tensor, to)) to += step;
        if (to === from + step) continue;
        isLower = true;
        break;
      }
    }
    if (!isLower && round > 0) break;
  }
  return { overrides: overridesOf(moves), error, trials };
}

/** Copies the constants that differ. Returns whether all of them are among the `open` ones; nothing is changed if not. */
function copyConstants(from: Graph, to: Graph, open: ReadonlySet<string>): boolean {
  const targets = new Map([...to.values.values()].flatMap(value => (value.constant === undefined ? [] : [[value.name, value] as const])));
  const changed: (readonly [name: string, Constant])[] = [];
  let count = 0;
  for (const { name, constant } of from.values.values()) {
    if (constant === undefined) continue;
    count++;
    const target = targets.get(name);
    if (target === undefined) return false;
    if (!isSame(constant, target.constant)) changed.push([name, constant]);
  }
  if (count !== targets.size || !changed.every(([name]) => open.has(name))) return false;
  for (const [name, constant] of changed) getValue(to, getDefined(targets.get(name), name).id).constant = constant;
  return true;
}

function isSame(a: Constant, b: Constant | undefined): boolean {
  if (b === undefined || a.dtype !== b.dtype || a.dims.join() !== b.dims.join()) return false;
  if (a.dtype === 'string' || b.dtype === 'string') return JSON.stringify(a) === JSON.stringify(b);
  return Buffer.compare(a.bytes, b.bytes) === 0;
}
