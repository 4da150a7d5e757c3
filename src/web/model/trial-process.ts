/** Tries the fixes for a model on a target, in a process of its own: each is a compilation of a copy. */
import { readFile } from 'node:fs/promises';
import type { Json } from '../../base/json.js';
import { parseJson } from '../../base/json.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { readModel } from '../../onnx/serde/model-file.js';
import { withoutRounding } from '../../quant/simulate/floats/rounded-model.js';
import { evaluate } from '../../runtime/session/evaluate.js';
import type { Advice } from '../../target/advice/advice.js';
import { adviseModel } from '../../target/advice/advise.js';
import { getBuiltInProfile } from '../../target/profile/choose-target.js';
import { openTarget } from '../../target/profile/open-target.js';
import { findSizeNames, pinSizes } from '../../target/units/pin-sizes.js';
import { RequestError } from '../http/read-body.js';
import { answerOrder } from './answer-order.js';
import type { TrialOrder } from './trial-view.js';

answerOrder(tryFixes);

async function tryFixes({ model: path, profile, pin, undocumented, largerBatch, ...choice }: TrialOrder): Promise<Advice> {
  const given = profile === undefined ? undefined : await readProfile(profile);
  const target = openTarget(choice, given);
  const read = await readModel(path);
  sortTopologically(read.graph);
  const plain = target.dtype.form === 'float' ? withoutRounding(read) : read;
  const model = findSizeNames(plain).some(name => Object.hasOwn(pin, name)) ? pinSizes(plain, pin) : plain;
  const json = given ?? getBuiltInProfile(target.identity.profile);
  const { advice } = await adviseModel(model, json, target, { evaluate, undocumented, largerBatch });
  return advice;
}

async function readProfile(path: string): Promise<Json> {
  const json = parseJson(await readFile(path, 'utf8'));
  if (json === undefined)
    throw new RequestError(422, 'profile-unreadable', 'the target profile is not JSON', 'correct the file of the profile');
  return json;
}
