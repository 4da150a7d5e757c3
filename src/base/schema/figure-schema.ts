/** The JSON Schema of a figure in reports and metrics. */
import { EQUAL } from '../figure.js';
import { anyOf, constant, number } from './build-schema.js';

export const FIGURE_SCHEMA = anyOf(
  [constant(EQUAL), number()],
  'A finite number, or "equal" where the error is zero and a ratio would be infinite.',
);
