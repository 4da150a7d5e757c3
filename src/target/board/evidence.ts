/** What the files of a run on a board say: where nodes ran, and the reasons that the vendor's tools gave. */
import { anyText, integer, number, oneOf, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

export const PLACE = oneOf(
  ['npu', 'cpu', 'host', 'other'],
  "host: the vendor's provider ran the node on the CPU (VITIS_EP_CPU). other: a device name that is not known.",
);

export type Place = FromSchema<typeof PLACE>;

export interface PlacedNode {
  /** The first output, which names the node. */
  readonly name: string;
  /** As in the report. */
  readonly device: string;
  readonly place: Place;
  readonly opType: string;
  /** '' for ai.onnx. */
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly comment: string;
}

/** `vitisai_ep_report.json`. */
export interface Assignment {
  readonly nodes: readonly PlacedNode[];
  /** Dims by the name of the value. Values of unknown shape are absent. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** Number of subgraphs by device name, for example "Actually running on NPU". */
  readonly subgraphs: Readonly<Record<string, number>>;
}

export const REASON = openObject(
  {
    kind: oneOf(
      ['partitioner', 'conversion', 'unsupported', 'compiler-error', 'whole-model'],
      "partitioner: the compiler placed the operator on the CPU. conversion: the provider did not convert the node, because of its shape, attributes or parameters. unsupported: the node is in VAIML's list of unsupported operators. compiler-error: a VAIML error code. whole-model: nothing of a subgraph or of the model was compiled.",
    ),
    text: anyText(),
    at: text('"session.log:12".'),
  },
  {
    subject: text("The name in the vendor's message; absent if the message names no node."),
    type: text('The operator\'s type in the vendor\'s words, for example "qlinear-conv".'),
  },
);

export type Reason = FromSchema<typeof REASON>;

export type ReasonKind = Reason['kind'];

export const SUMMARY_COUNT = openObject(
  { count: integer(0) },
  { percent: number() },
  'A count of VAIML\'s summary, for example "operators supported" → 122 of 100 %.',
);

export type SummaryCount = FromSchema<typeof SUMMARY_COUNT>;

/** `context.json`. */
export type CompiledContext = {
  /** The file name of the model from which the cache was built. */
  readonly model?: string;
};

/** The content of one file. */
export interface Evidence {
  readonly assignment?: Assignment;
  readonly context?: CompiledContext;
  readonly reasons: readonly Reason[];
  /** Names of compiler targets in messages, for example AMD_AIE2P_4x8_CMC_Overlay. */
  readonly targets: readonly string[];
  /** VAIML's summary by the words of its line, for example "operators supported by VAIML". */
  readonly summary: Readonly<Record<string, SummaryCount>>;
  /** Percentages of the compiler's plan, which is no verdict, by device. */
  readonly plan: Readonly<Record<string, number>>;
}

export const NOTHING: Evidence = { reasons: [], targets: [], summary: {}, plan: {} };
