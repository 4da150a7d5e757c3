/** A digest: its beginning, all of it as a tooltip, and a button that copies it. */
import { CopyButton } from '../parts/copy-button.js';
import { shortDigest } from '../parts/text.js';

export function Digest({ digest, what }: { readonly digest: string; readonly what: string }) {
  return (
    <span class="digest">
      <code title={digest}>{shortDigest(digest)}</code>
      <CopyButton text={digest} what={what} />
    </span>
  );
}
