/** A dotted name in a narrow column: it may break after its dots, and nowhere else. */
import { plainText } from './text.js';

export function BrokenName({ name }: { readonly name: string }) {
  return (
    <>
      {plainText(name)
        .split(/(?<=[.@/])/)
        .map((part, index) => (
          <span key={index}>
            {index > 0 && <wbr />}
            {part}
          </span>
        ))}
    </>
  );
}
