/** Messages in place of content: empty, loading, or an error with its next step. */
import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.js';

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Failed({ error }: { readonly error: ApiError }) {
  return (
    <div class="failed" role="alert">
      <p>
        <b>{error.message}</b> <code>{error.code}</code>
      </p>
      {error.help !== undefined && <p>{error.help}</p>}
    </div>
  );
}

/** What is shown until the first answer. */
export function Waiting({ error, what }: { readonly error: ApiError | undefined; readonly what: string }) {
  return error === undefined ? (
    <p class="empty" role="status">
      Loading {what} …
    </p>
  ) : (
    <Failed error={error} />
  );
}

export function Badge({ look, children }: { readonly look: string; readonly children: ComponentChildren }) {
  return <span class={`badge ${look}`}>{children}</span>;
}
