/** Schema of the param `fit`, which the plugins that run a detector on images have. */

export const FIT_SCHEMA = {
  type: 'string',
  enum: ['static', 'torchvision'],
  description: "How images of other sizes are fitted to the model's input; default: the policy of the host recipe.",
} as const;
