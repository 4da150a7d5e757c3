/** Messages in place of content: empty, loading, or an error with its next step. */

import type { ComponentChildren } from 'preact';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import type { ApiError } from '../api/client.js';
import { isOutdated } from './states.js';
import { plainText } from './text.js';

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

/** A warning where results that are shown are of earlier inputs. */
export function OutOfDate({ stage }: { readonly stage: StageRow }) {
  if (!isOutdated(stage)) return null;
  return <Badge look="warn">out of date: {plainText(stage.why[0] ?? 'its inputs changed')}</Badge>;
}

/** What went wrong with the last click, beside its button. */
export function Problem({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <span role="alert" class="bad">
      {text}
    </span>
  );
}
