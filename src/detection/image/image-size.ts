/** Size of an image or of a map. */
export interface ImageSize {
  readonly height: number;
  readonly width: number;
}
