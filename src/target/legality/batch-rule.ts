/** Checks the batch of a model: how many images or RoIs the target runs in one call. */
import type { Model } from '../../onnx/ir/model.js';
import type { Target } from '../profile/choose-target.js';
import { parseIntegerSet } from '../profile/integer-set.js';
import type { BatchLimit } from '../profile/profile.js';
import type { Device } from '../report/compile-report.js';
import type { Finding, Severity } from '../report/finding.js';
import { tensorOf } from '../units/unit-facts.js';
import { makeFinding } from './unit-case.js';

/** A finding for each input of rank 4 (images or features) whose first dimension exceeds a limit. A finding that is no warning puts the whole model on the CPU. */
export function checkBatch(model: Model, target: Target, largerBatch: Device): readonly Finding[] {
  return target.graph.batches.flatMap(limit => {
    const set = parseIntegerSet(limit.allowed);
    return model.graph.inputs.flatMap(id => {
      const { name, dims } = tensorOf(model, id);
      const [batch] = dims ?? [];
      if (set === undefined || dims?.length !== 4 || typeof batch !== 'number' || set.has(batch)) return [];
      return [
        makeFinding(target, {
          rule: 'batch',
          severity: severityOf(limit, largerBatch),
          measured: `batch ${batch}`,
          limit: set.text,
          message: `the batch of input "${name}" is ${batch}; ${target.identity.dtype} on ${target.identity.device} takes ${set.text}`,
          source: limit.source,
          note: limit.note,
        }),
      ];
    });
  });
}

/** The sizes of `sizes` that the target runs on the NPU; if none of them, size 1. */
export function allowedBatches(target: Target, sizes: readonly number[], largerBatch: Device): readonly number[] {
  const binding = target.graph.batches.filter(limit => severityOf(limit, largerBatch) !== 'warning');
  const allowed = sizes.filter(size => binding.every(limit => parseIntegerSet(limit.allowed)?.has(size) !== false));
  return allowed.length === 0 ? [1] : allowed;
}

/** Only a limit that nobody observed or documented gives way to the params. */
function severityOf({ severity = 'refused' }: BatchLimit, largerBatch: Device): Severity {
  return severity === 'undocumented' && largerBatch === 'npu' ? 'warning' : severity;
}
