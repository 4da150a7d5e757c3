/** The reason why rules that read calibrated ranges decline without them. */
export const NO_RANGES =
  'the range of its input is not known: connect `sketches` of this model, and place this rule before those that change values';
