/** Reads the parts of a `compile` report that the page needs. */
import { anyList, anyText, flag, integer, type JsonReader, literal, maybe, number, someFields, text } from '../../src/base/json-shape.js';
import {
  COMPILE_REPORT_FORMAT,
  type EstimateBasis,
  type LatencyEstimate,
  type ModelCounts,
  type ModelReport,
  type PartReport,
  type TargetIdentity,
  type UnitReport,
} from '../../src/target/report/compile-report.js';
import type { Finding, FixIt, Source } from '../../src/target/report/finding.js';
import { parserOf } from './entries.js';

export interface CompileView {
  readonly target: Pick<TargetIdentity, 'title' | 'device' | 'dtype' | 'version'>;
  readonly models: readonly CompiledModel[];
}

export interface CompiledModel extends Pick<ModelReport, 'name' | 'legal'> {
  readonly counts: ModelCounts;
  readonly findings: readonly FindingView[];
  readonly units: readonly UnitView[];
  readonly parts: readonly PartView[];
  readonly estimate: { readonly npu: LatencyEstimate; readonly basis: Pick<EstimateBasis, 'formula'>; readonly batches?: BatchView };
}

export type FindingView = Pick<Finding, 'rule' | 'severity' | 'message' | 'measured' | 'limit'> & {
  readonly source: Pick<Source, 'title' | 'ref'>;
  readonly note?: string;
  readonly fixIts: readonly Pick<FixIt, 'rule' | 'form' | 'effect' | 'note'>[];
};

export type UnitView = Pick<UnitReport, 'id' | 'opType' | 'name' | 'activation' | 'device' | 'edge' | 'part' | 'demoted' | 'macs'> & {
  readonly findings: readonly FindingView[];
};

export type PartView = Pick<PartReport, 'index' | 'name' | 'device' | 'nodes' | 'dependsOn' | 'macs' | 'transferBytes'> & {
  readonly units: readonly number[];
  readonly estimate?: LatencyEstimate;
};

export interface BatchView {
  readonly rows: readonly BatchRowView[];
  /** A batch size. */
  readonly best: number;
}

export interface BatchRowView {
  readonly batch: number;
  readonly calls: number;
  readonly padded: number;
  readonly perImage: LatencyEstimate;
}

const optionalText = maybe(text()) as JsonReader<string>;
const count = integer(0);
const estimate = someFields<LatencyEstimate>({ ms: number({ min: 0 }), lowMs: number({ min: 0 }), highMs: number({ min: 0 }) });
const optionalEstimate = maybe(estimate) as JsonReader<LatencyEstimate>;

const finding = someFields<FindingView>({
  rule: text(),
  severity: literal('refused', 'undocumented', 'warning'),
  message: text(),
  measured: anyText(),
  limit: anyText(),
  note: optionalText,
  source: someFields<FindingView['source']>({ title: anyText(), ref: anyText() }),
  fixIts: anyList(
    someFields<FindingView['fixIts'][number]>({
      rule: text(),
      form: optionalText,
      effect: literal('exact', 'rounding', 'approximate'),
      note: anyText(),
    }),
  ),
});

const counts = someFields<ModelCounts>({
  nodes: count,
  npuNodes: count,
  cpuNodes: count,
  edgeNodes: count,
  units: count,
  npuUnits: count,
  cpuUnits: count,
  parts: count,
  npuParts: count,
  macs: number({ min: 0 }),
  npuMacShare: number({ min: 0, max: 1 }),
});

const unit = someFields<UnitView>({
  id: count,
  opType: text(),
  name: anyText(),
  activation: optionalText,
  device: literal('npu', 'cpu'),
  edge: flag(),
  part: count,
  demoted: optionalText,
  macs: number({ min: 0 }),
  findings: anyList(finding),
});

const part = someFields<PartView>({
  index: count,
  name: text(),
  device: literal('npu', 'cpu'),
  nodes: count,
  dependsOn: anyList(count),
  macs: number({ min: 0 }),
  transferBytes: number({ min: 0 }),
  units: anyList(count),
  estimate: optionalEstimate,
});

const batches = someFields<BatchView>({
  rows: anyList(someFields<BatchRowView>({ batch: count, calls: number(), padded: number(), perImage: estimate })),
  best: count,
});

const model = someFields<CompiledModel>({
  name: text(),
  legal: flag(),
  counts,
  findings: anyList(finding),
  units: anyList(unit),
  parts: anyList(part),
  estimate: someFields<CompiledModel['estimate']>({
    npu: estimate,
    basis: someFields<CompiledModel['estimate']['basis']>({ formula: text() }),
    batches: maybe(batches) as JsonReader<BatchView>,
  }),
});

/** @throws StageError `report-input`. */
export const parseCompile = parserOf(
  someFields<CompileView & { readonly format: string }>({
    format: literal(COMPILE_REPORT_FORMAT),
    target: someFields<CompileView['target']>({ title: text(), device: text(), dtype: text(), version: anyText() }),
    models: anyList(model),
  }),
  'compile',
);
