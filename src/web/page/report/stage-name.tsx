/** The name of an entry, as a link to the stage that made it. */
import { Link } from '../parts/link.js';
import { plainText } from '../parts/text.js';

interface NameProps {
  readonly name: string;
  /** undefined: a source. */
  readonly stage: string | undefined;
}

export function StageName({ name, stage }: NameProps) {
  if (stage === undefined) return <>{plainText(name)}</>;
  return (
    <Link view="pipeline" query={{ stage }}>
      {plainText(name)}
    </Link>
  );
}
