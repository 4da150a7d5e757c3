/** Reasons to reject a pickle. */
import { TensorError } from '../tensor-error.js';

export function malformed(reason: string): TensorError {
  return new TensorError('pickle-malformed', `the pickle is malformed: ${reason}`);
}

export function unsafe(path: string): TensorError {
  return new TensorError(
    'unsafe-global',
    `the pickle refers to ${path}, which is not on the list of allowed names: the whole file is rejected`,
    {
      details: { global: path },
      help: 'save a plain state dict: torch.save(model.state_dict(), path)',
    },
  );
}

export function wholeModule(path: string): TensorError {
  return new TensorError(
    'whole-module',
    `the pickle contains an object of class ${path}, but only tensors are supported: save model.state_dict() in the environment that wrote the file`,
    {
      details: { class: path },
      help: 'torch.save(model.state_dict(), path)',
    },
  );
}
