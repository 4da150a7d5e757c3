/** Words for what an input of a model may take from an image, besides numbers. */
export const SIZE_WORDS = [
  'input-height',
  'input-width',
  'resized-height',
  'resized-width',
  'image-height',
  'image-width',
  'scale-y',
  'scale-x',
] as const;

export const IMAGE_WORDS = ['image', ...SIZE_WORDS] as const;

export type SizeWord = (typeof SIZE_WORDS)[number];
export type ImageWord = (typeof IMAGE_WORDS)[number];
