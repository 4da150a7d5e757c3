/** `tanren completion SHELL`: prints the completion script for a shell. The scripts are small because they ask `tanren` for the candidates. */
import { InvalidArgumentError } from 'commander';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { SHELLS, type Shell } from '../../process/shells.js';
import { makeConsole } from '../../terminal/console.js';

/** @throws InvalidArgumentError */
export function runCompletion(name: string | undefined): ExitCode {
  const shell = SHELLS.find(one => one === name);
  if (shell === undefined) throw new InvalidArgumentError(`expected ${SHELLS.join(', ')}, found "${name ?? ''}"`);
  makeConsole({ json: false }).line(SCRIPTS[shell].trim());
  return EXIT.built;
}

/** Bash treats "@", "=" and ":" as word breaks. The text before the last break on the line must not be offered again. */
const BASH = String.raw`
# bash completion for tanren
_tanren() {
  local line="${'$'}{COMP_LINE:0:COMP_POINT}" candidate rest words current
  read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  current="${'$'}{words[${'$'}{#words[@]}-1]}"
  COMPREPLY=()
  while IFS=$'\t' read -r candidate rest; do
    if [[ "$candidate" == ":files" ]]; then
      compopt -o default 2> /dev/null
      return
    fi
    [[ "$candidate" == *= ]] && compopt -o nospace 2> /dev/null
    COMPREPLY+=("$candidate")
  done < <("${'$'}{words[0]}" __complete "${'$'}{words[@]:1}" 2> /dev/null)
  local before="${'$'}{current%"${'$'}{current##*[@=:]}"}" i
  if [[ -n "$before" && "$COMP_WORDBREAKS" == *"${'$'}{before: -1}"* ]]; then
    for i in "${'$'}{!COMPREPLY[@]}"; do COMPREPLY[i]="${'$'}{COMPREPLY[i]#"$before"}"; done
  fi
}
complete -F _tanren tanren
`;

const ZSH = String.raw`
#compdef tanren
_tanren() {
  local -a lines described
  local line
  lines=("${'$'}{(@f)$("${'$'}{words[1]}" __complete "${'$'}{(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ "${'$'}{lines[1]}" == ":files" ]]; then
    _files
    return
  fi
  for line in "${'$'}{lines[@]}"; do
    [[ -n "$line" ]] && described+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done
  _describe tanren described
}
if [[ "$funcstack[1]" == "_tanren" ]]; then
  _tanren "$@"
else
  compdef _tanren tanren
fi
`;

const FISH = String.raw`
# fish completion for tanren
function __tanren_complete
  set -l words (commandline -opc)
  set -l lines ($words[1] __complete $words[2..-1] (commandline -ct) 2> /dev/null)
  if test "$lines[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $lines
  end
end
complete -c tanren -f -a '(__tanren_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
