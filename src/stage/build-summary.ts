/** The summary of a build for a stage: the stages before it with their connections, outcomes and durations. */
import { anyList, anyOf, anyText, constant, integer, number, object, oneOf } from '../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../base/schema/figure-schema.js';
import type { FromSchema } from '../base/schema/from-schema.js';

const PORT = { required: { port: anyText() }, optional: { entry: anyText() } } as const;

const INPUT = anyOf([
  object({ kind: constant('artifact'), ...PORT.required, stage: anyText(), output: anyText() }, PORT.optional),
  object({ kind: constant('source'), ...PORT.required, source: anyText('Its name in the pipeline file.') }, PORT.optional),
]);

export type SummarizedInput = FromSchema<typeof INPUT>;

const OUTPUT = object({ port: anyText(), kind: anyText(), digest: anyText(), sizeBytes: integer(0) });

export type SummarizedOutput = FromSchema<typeof OUTPUT>;

const GATE = object(
  { metric: anyText(), operator: oneOf(['>=', '<=', '>', '<', '==']), bound: number(), verdict: oneOf(['met', 'missed']) },
  {
    value: { ...FIGURE_SCHEMA, description: "Absent if the stage's metrics have no such figure." },
    reasons: anyList(anyText(), 'Of a missed gate, if the stage states any.'),
  },
);

export type SummarizedGate = FromSchema<typeof GATE>;

const STAGE = object(
  {
    stage: anyText(),
    group: anyText('The name in the pipeline file, without "@item".'),
    plugin: anyText(),
    determinism: oneOf(['exact', 'measured']),
    reads: anyList(INPUT),
    key: anyText('SHA-256 of the action manifest.'),
    outputs: anyList(OUTPUT),
    gates: anyList(GATE),
    outcome: oneOf(['up-to-date', 'restored', 'executed'], 'In this build.'),
    durationMs: number({ minimum: 0 }, 'Duration of the run that produced the result, in this or an earlier build.'),
  },
  { from: oneOf(['remote'], 'Of a restored stage; absent for the local cache.') },
);

export type SummarizedStage = FromSchema<typeof STAGE>;

const MISSING = object({ stage: anyText(), outcome: oneOf(['failed', 'skipped']), reason: anyText() });

export type SummarizedMissing = FromSchema<typeof MISSING>;

/**
 * Given to a plugin that declares `needs: 'build-summary'`. Graph, keys, artifacts and gates are part of the stage's key. Outcomes and times are not,
 * because they differ between builds: such a stage describes the build that ran it.
 */
export const BUILD_SUMMARY = object(
  {
    stages: anyList(STAGE, 'Every direct or indirect dependency of this stage, in topological order.'),
    reads: anyList(INPUT, 'The direct inputs of this stage.'),
  },
  {
    missing: anyList(
      MISSING,
      'Only where the stage runs for people to look at, without the results of these stages: what it writes is not kept as its result.',
    ),
  },
);

export type BuildSummary = FromSchema<typeof BUILD_SUMMARY>;
