/**
 * The errors of a model's inner values, by the first `verify` stage that compared them. Others compare the outputs alone.
 * After a build the former errors stay until the report is read again.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Json } from '../../../base/json.js';
import { findPropagatedErrors, type PartErrors } from '../../../quant/compare/propagated-error.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address, getJson } from '../api/client.js';
import { asApiError } from '../api/use-data.js';

export interface Propagated {
  readonly verify: StageRow;
  /** Name of the model among the parts that the stage compared; "model" for a model alone. */
  readonly entry: string;
  readonly parts: readonly PartErrors[];
}

export interface LoadedPropagated {
  /** undefined while the first report loads, and where no stage compared inner values. */
  readonly found: Propagated | undefined;
  /** The errors are those of the report before; the newer one is on its way. */
  readonly isFormer: boolean;
  /** Why a report could not be read. */
  readonly problem: string | undefined;
}

interface Place {
  readonly stage: string;
  readonly port: string;
}

type Candidate = Pick<Propagated, 'verify' | 'entry'>;

/** Built `verify` stages that read the model as what they judge, with their reports at hand. */
export function listVerifiers(stages: readonly StageRow[], { stage, port }: Place): readonly Candidate[] {
  return stages.flatMap(verify => {
    const { plugin, built, inputs, outputs } = verify;
    const report = outputs.find(output => output.port === 'report');
    if (plugin !== 'verify' || !built || report === undefined || report.absent === true) return [];
    const input = inputs.find(one => one.stage === stage && one.port === port && /^candidate\b/.test(one.name));
    return input === undefined ? [] : [{ verify, entry: input.name.split('.')[1] ?? 'model' }];
  });
}

export function usePropagated(stages: readonly StageRow[], place: Place): LoadedPropagated {
  const candidates = listVerifiers(stages, place);
  const addresses = candidates.map(({ verify }) => addressOf(verify));
  const key = addresses.join(' ');
  const [loaded, setLoaded] = useState<Omit<LoadedPropagated, 'isFormer'> & { readonly key: string }>();
  useEffect(() => {
    const controller = new AbortController();
    Promise.allSettled(addresses.map(async at => findPropagatedErrors(await getJson<Json>(at, controller.signal)))).then(answers => {
      if (controller.signal.aborted) return;
      const failed = answers.find(answer => answer.status === 'rejected');
      const problem = failed === undefined ? undefined : asApiError(failed.reason).message;
      const found = candidates.flatMap((candidate, index): readonly Propagated[] => {
        const answer = answers[index];
        return answer?.status === 'fulfilled' && answer.value !== undefined ? [{ ...candidate, parts: answer.value }] : [];
      });
      setLoaded({ key, found: found[0], problem });
    });
    return () => controller.abort();
  }, [key]);
  // The row of the stage is the present one: whether it is out of date may have changed since.
  const row = candidates.find(one => one.verify.id === loaded?.found?.verify.id);
  const found = loaded?.found === undefined || row === undefined ? undefined : { ...loaded.found, ...row };
  if (loaded?.key !== key) return { found, isFormer: found !== undefined, problem: undefined };
  return { found, isFormer: false, problem: loaded.problem };
}

function addressOf({ id, outputs }: StageRow): string {
  return address('artifact', { stage: id, port: 'report', v: outputs.find(({ port }) => port === 'report')?.digest?.slice(0, 16) });
}
