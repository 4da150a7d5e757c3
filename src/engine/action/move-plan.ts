/** A plan moved to another project folder, with copies of its sources: the same actions, with other paths. */
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';
import { toolsOf } from './declared.js';

/**
 * Copies all sources of the selected stages, and links the programs that they name by path.
 * @param folder the new project folder, which must be empty.
 */
export async function movePlan(plan: Plan, selected: readonly PlannedStage[], folder: string): Promise<Plan> {
  const copies = new Map<string, string>();
  const copied = async (path: string): Promise<string> => {
    const known = copies.get(path);
    if (known !== undefined) return known;
    const from = resolve(plan.projectFolder, path);
    // The name stays, because a stage may look at its extension.
    const to = `sources/${copies.size}/${basename(from)}`;
    copies.set(path, to);
    await mkdir(dirname(join(folder, to)), { recursive: true });
    if (existsSync(from)) await cp(from, join(folder, to), { recursive: true, dereference: true, mode: COPY_ON_WRITE });
    return to;
  };
  const stages = new Map<StageId, PlannedStage>();
  for (const stage of selected) {
    stages.set(stage.id, { ...stage, inputs: await mapInputs(stage.inputs, copied) });
    for (const tool of toolsOf(stage)) await linkTool(plan, tool, folder);
  }
  return { ...plan, projectFolder: folder, stages, targets: new Map([...stages.keys()].map(id => [id, [id]])) };
}

/** `COPYFILE_FICLONE`: a copy that shares its blocks where the file system can do that. */
const COPY_ON_WRITE = 2;

async function mapInputs(
  inputs: PlannedStage['inputs'],
  copied: (path: string) => Promise<string>,
): Promise<Readonly<Record<string, InputBinding>>> {
  const move = async (ref: InputRef): Promise<InputRef> => (ref.kind === 'source' ? { ...ref, path: await copied(ref.path) } : ref);
  const moved: Record<string, InputBinding> = {};
  for (const [port, binding] of Object.entries(inputs)) {
    if (binding.kind !== 'record') moved[port] = await move(binding);
    else {
      const entries: Record<string, InputRef> = {};
      for (const [name, ref] of Object.entries(binding.entries)) entries[name] = await move(ref);
      moved[port] = { kind: 'record', entries };
    }
  }
  return moved;
}

/** Names without a slash are on the PATH, and absolute ones are where they are. */
async function linkTool(plan: Plan, tool: string, folder: string): Promise<void> {
  if (!tool.includes('/') || isAbsolute(tool)) return;
  const link = join(folder, tool);
  if (existsSync(link)) return;
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(plan.projectFolder, tool), link);
}
