/** Changes the parameters of the pipeline file that a stage refers to. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../../base/json.js';
import type { StageView } from '../../../report/views/stage-data.js';
import { useEdit } from '../edits/use-edit.js';
import { plainText } from '../parts/text.js';
import { type Plain, parseLike } from './parse-like.js';

interface ChangesProps {
  /** Of the stage. */
  readonly params: StageView['params'];
  /** Values of the parameters of the pipeline. */
  readonly values: JsonObject;
}

/** Nothing for a stage that refers to none. */
export function ParamChanges({ params, values }: ChangesProps) {
  const { preview, shown } = useEdit(() => 'Every stage that refers to the parameter gets the value.');
  const named = new Set(params.flatMap(({ origin }) => (origin.kind === 'reference' ? origin.refers : [])));
  const changeable = [...named].filter(name => Object.hasOwn(values, name) && isPlain(values[name]));
  if (changeable.length === 0) return null;
  return (
    <>
      {changeable.map(name => (
        <ParamField
          key={`${name} ${JSON.stringify(values[name])}`}
          name={name}
          value={values[name] as Plain}
          preview={to => preview({ kind: 'param', name, to })}
        />
      ))}
      {shown}
    </>
  );
}

function isPlain(value: Json | undefined): value is Plain {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

interface FieldProps {
  readonly name: string;
  readonly value: Plain;
  readonly preview: (to: Plain) => void;
}

function ParamField({ name, value, preview }: FieldProps) {
  const [text, setText] = useState(String(value));
  const to = parseLike(text, value);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (to !== undefined && to !== value) preview(to);
  };
  return (
    <form class="edit-tools" onSubmit={submit}>
      <label>
        <code>{plainText(name)}</code> <input type="text" size={12} value={text} onInput={event => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" disabled={to === undefined || to === value}>
        Change …
      </button>
    </form>
  );
}
