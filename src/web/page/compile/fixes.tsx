/** The fixes for a model, each tried on a copy: what runs on the NPU before and after, and the edit that writes its rule. */
import { assertNever } from '../../../base/assert-never.js';
import { formatFixed, formatShare } from '../../../report/numbers.js';
import type { TrialView } from '../../model/trial-view.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { useEdit } from '../edits/use-edit.js';
import { Empty, Waiting } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { plainText } from '../parts/text.js';

interface FixesProps {
  /** Id of the stage that uses `compile`. */
  readonly stage: string;
  readonly model: string;
  /** Of the content of the model: an equal one is not tried again. */
  readonly digest: string;
  readonly canEdit: boolean;
}

/** A trial compiles the model several times, so that it begins with a click. */
export function Fixes({ stage, model, digest, canEdit }: FixesProps) {
  const { query } = usePlace();
  const isOpen = query.trial === 'yes';
  return (
    <section>
      <h2>Fixes, tried on a copy</h2>
      {isOpen ? (
        <Trial key={digest} stage={stage} model={model} digest={digest} canEdit={canEdit} />
      ) : (
        <button type="button" onClick={() => setQuery({ trial: 'yes' }, 'replace')}>
          Try the fixes
        </button>
      )}
    </section>
  );
}

const noteOfRule = (): string => 'The rule applies wherever it matches; a model without such nodes ignores it.';

function Trial({ stage, model, digest, canEdit }: FixesProps) {
  const { data, error } = useData<TrialView>(address('trial', { stage, model, v: digest.slice(0, 16) }), 'once');
  const edit = useEdit(noteOfRule);
  if (data === undefined) return <Waiting error={error} what="the trial" />;
  const { advice, rewrite } = data;
  const rows = rowsOf(data);
  const canApply = canEdit && rewrite.kind !== 'none';
  return (
    <>
      {rows.length === 0 ? (
        <Empty>No rule or step puts more of this model on the NPU.</Empty>
      ) : (
        <PlainTable
          label="Fixes with their trial"
          rows={rows}
          columns={[
            ...COLUMNS,
            ...(canApply
              ? [
                  {
                    title: 'Pipeline',
                    cell: ({ rule, form }: FixRow) =>
                      rule === undefined ? (
                        ''
                      ) : (
                        <button
                          type="button"
                          aria-label={`Apply ${rule}`}
                          onClick={() => edit.preview({ kind: 'rule', stage, model, rule, ...(form === undefined ? {} : { form }) })}
                        >
                          Apply …
                        </button>
                      ),
                  },
                ]
              : []),
          ]}
          keyOf={({ what }, index) => `${index} ${what}`}
        />
      )}
      {edit.shown}
      <p class="soft">
        Each is tried on top of those above it. The times are estimates per call.{' '}
        {advice.opset !== undefined && `The rules need operator set ${advice.opset}, as “import” writes it. `}
        {rows.some(({ rule }) => rule !== undefined) && <RulePlace rewrite={rewrite} />}
      </p>
      <Refused advice={advice} />
    </>
  );
}

function RulePlace({ rewrite }: Pick<TrialView, 'rewrite'>) {
  switch (rewrite.kind) {
    case 'stage':
      return (
        <>
          Rules go to <code>{rewrite.stage}</code>.
        </>
      );
    case 'new':
      return (
        <>
          No stage before it uses <code>rewrite</code>: a rule goes to a new stage between the model and this one. Stages that evaluate the
          model read it before the rule, until the file names the new stage there too.
        </>
      );
    case 'none':
      return <>The page cannot write the rules: {plainText(rewrite.reason)}. Edit the file.</>;
    default:
      return assertNever(rewrite);
  }
}

type Outcome = TrialView['advice']['rewrites'][number]['before'];

interface FixRow {
  readonly what: string;
  readonly effect: string;
  readonly places: number | undefined;
  readonly before: Outcome;
  readonly after: Outcome;
  readonly rule?: string;
  readonly form?: string | undefined;
  /** The param that a step sets. */
  readonly param?: string | undefined;
}

/** Steps about sizes come first, then those about quantization, then the rules, as they were tried. */
function rowsOf({ advice: { steps, rewrites, trust } }: TrialView): readonly FixRow[] {
  return [
    ...steps.map(({ text, param, before, after }): FixRow => ({ what: text, effect: 'step', places: undefined, before, after, param })),
    ...rewrites.map(
      ({ rule, form, effect, places, before, after }): FixRow => ({
        what: form === undefined ? rule : `${rule}, ${form}`,
        effect,
        places,
        before,
        after,
        rule,
        form,
      }),
    ),
    ...(trust === undefined
      ? []
      : [
          {
            what: 'trust that the target runs undocumented operators',
            effect: 'unknown',
            places: undefined,
            ...trust,
            param: 'undocumented: npu',
          },
        ]),
  ];
}

const COLUMNS: readonly PlainColumn<FixRow>[] = [
  {
    title: 'Fix',
    cell: ({ what, rule, param }) => (
      <>
        {rule === undefined ? plainText(what) : <code>{what}</code>}
        {param !== undefined && (
          <div>
            <code>{plainText(param)}</code>
          </div>
        )}
      </>
    ),
  },
  { title: 'Values', cell: ({ effect }) => effect },
  { title: 'Places', look: 'n', cell: ({ places }) => places ?? '' },
  {
    title: 'On the NPU',
    look: 'n',
    cell: ({ before, after }) => (
      <>
        {formatShare(before.npuMacShare)} → <b>{formatShare(after.npuMacShare)}</b>
      </>
    ),
  },
  { title: 'Units on the CPU', look: 'n', cell: ({ before, after }) => `${before.cpuUnits} → ${after.cpuUnits}` },
  {
    title: 'Parts',
    hint: 'Stretches of the model that run on one device without a break',
    look: 'n',
    cell: ({ before, after }) => `${before.parts} → ${after.parts}`,
  },
  {
    title: 'Estimate, ms',
    look: 'n',
    cell: ({ before, after }) => `${formatFixed(before.estimatedMs, 2)} → ${formatFixed(after.estimatedMs, 2)}`,
  },
];

function Refused({ advice: { refused, refusedSteps, dtypes } }: Pick<TrialView, 'advice'>) {
  const reasons = [
    ...refusedSteps.map(({ reason }) => reason),
    ...refused.map(({ rule, form, reason }) => `${form === undefined ? rule : `${rule}, ${form}`}: ${reason}`),
  ];
  return (
    <>
      {reasons.length > 0 && (
        <details>
          <summary>{reasons.length} that do not help</summary>
          <ul>
            {reasons.map(reason => (
              <li key={reason}>{plainText(reason)}</li>
            ))}
          </ul>
        </details>
      )}
      {dtypes.length > 1 && (
        <details>
          <summary>Other data types</summary>
          <PlainTable label="Data types" rows={dtypes} columns={DTYPES} keyOf={({ dtype }) => dtype} />
        </details>
      )}
    </>
  );
}

const DTYPES: readonly PlainColumn<TrialView['advice']['dtypes'][number]>[] = [
  { title: 'Data type', cell: ({ dtype }) => dtype },
  { title: 'On the NPU', look: 'n', cell: ({ outcome }) => formatShare(outcome.npuMacShare) },
  { title: 'Units on the CPU', look: 'n', cell: ({ outcome }) => outcome.cpuUnits },
  { title: 'Estimate, ms', look: 'n', cell: ({ outcome }) => formatFixed(outcome.estimatedMs, 2) },
  {
    title: 'With the rules',
    cell: ({ rewrites }) => rewrites.map(({ rule, form }) => (form === undefined ? rule : `${rule}, ${form}`)).join('; ') || 'none',
  },
];
