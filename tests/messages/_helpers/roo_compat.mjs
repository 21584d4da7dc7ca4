// Reads [{schema, value}] from stdin and says for each what Roo Code's own zod schema makes of it:
// {accepted, stripped}, where stripped are the paths of fields that were dropped.
import * as roo from '@roo-code/types';

function droppedPaths(before, after, path = '') {
  if (Array.isArray(before)) {
    return before.flatMap((item, index) =>
      droppedPaths(item, after?.[index], `${path}[]`)
    );
  }
  if (typeof before !== 'object' || before === null) {
    return [];
  }
  return Object.entries(before).flatMap(([key, value]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return after !== null && typeof after === 'object' && key in after
      ? droppedPaths(value, after[key], here)
      : [here];
  });
}

function verdict({ schema, value }) {
  const known = roo[schema];
  if (typeof known?.safeParse !== 'function') {
    throw new Error(`@roo-code/types has no schema ${schema}`);
  }
  const result = known.safeParse(value);
  return result.success
    ? { accepted: true, stripped: droppedPaths(value, result.data) }
    : { accepted: false, reason: JSON.stringify(result.error.issues[0]) };
}

let input = '';
for await (const chunk of process.stdin) {
  input += chunk;
}
process.stdout.write(
  JSON.stringify({
    verdicts: JSON.parse(input).map(verdict),
    lists: {
      asks: roo.clineAsks,
      says: roo.clineSays,
      idle: roo.idleAsks,
      resumable: roo.resumableAsks,
      interactive: roo.interactiveAsks,
      non_blocking: roo.nonBlockingAsks,
      events: Object.values(roo.RooCodeEventName),
      commands: Object.values(roo.TaskCommandName),
      ipc: Object.values(roo.IpcMessageType),
      statuses: Object.values(roo.TaskStatus),
      tools: roo.toolNames
    }
  })
);
