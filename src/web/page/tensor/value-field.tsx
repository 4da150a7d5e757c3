/** A field for the name of a value, which suggests the names that there are. */
import { useState } from 'preact/hooks';
import { setQuery } from '../api/router.js';

/** More suggestions slow the field down; its text narrows them. */
const MOST = 300;

export function ValueField({ values, value }: { readonly values: readonly string[]; readonly value: string }) {
  const [text, setText] = useState(value);
  const wanted = text.toLowerCase();
  const found = values.filter(name => name.toLowerCase().includes(wanted)).slice(0, MOST);
  const choose = (name: string): void => {
    setText(name);
    if (values.includes(name) && name !== value) setQuery({ value: name, channel: undefined });
  };
  return (
    <label class="value-field">
      Value
      <input type="search" list="tensor-values" value={text} onInput={event => choose(event.currentTarget.value)} size={48} />
      <datalist id="tensor-values">
        {found.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {!values.includes(text) && <span class="soft"> no value has this name</span>}
    </label>
  );
}
