import * as React from 'react';

import { reasonText } from '../../../timeline/checkpointtexts';
import { RiskFlagList } from '../../../ui/texts/riskflaglist';
import { flagsOn, placeFacts } from '../../../ui/texts/riskflags';
import { modeName } from '../../../ui/texts/modenames';
import { useStore } from '../../../ui/hooks';
import { usePresentPath } from '../../../ui/renamedpaths';
import { usePanel } from '../../../ui/services';
import { plainName } from '../../../ui/texts/visibletext';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { Diff, DiffStats, addedLines } from '../../../ui/texts/diff';
import { Markdown } from '../../../ui/markdown/markdown';
import { PlaceLink } from '../../../ui/controls/placelink';
import { noteScope } from '../../../ui/texts/notescope';
import { readJson } from '../../../ui/texts/readjson';
import {
  AskBadge,
  AskedElsewhere,
  AskFailure,
  useAskState
} from '../rows/askstate';
import { BatchBody } from './batchbody';
import { MemoryLink } from '../rows/memorylink';
import type { IRowContent } from '../rows/rowcontent';
import { CellCodes, CellEdits } from './notebooktool';
import { RowHead } from '../rows/rowhead';
import { useRowParts } from '../rows/rowparts';
import { SubtaskLink } from '../rows/subtaskrow';
import { Checklist, parseChecklist } from '../rows/todosrow';
import { SearchResult } from './searchresult';
import { toolIcon } from './toolicons';
import type { Tool } from './tooltexts';
import { toolTexts, viewTexts } from './tooltexts';

/**
 * What the agent does with a tool: what, where, and what came of it.
 */
export function ToolRow({ message, parts }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const results = useRowParts(parts);
  const state = useAskState(message);
  const tool = React.useMemo(
    () => readJson<Tool>(message.text) ?? {},
    [message.text]
  );
  const isByPerson = message.say === 'user_feedback_diff';
  const words = isByPerson
    ? trans.__('You edited what the agent proposed')
    : toolTexts(tool, state !== 'done', trans);
  return (
    <div className="jp-hdspAgent-chat-tool" data-state={state}>
      <RowHead icon={toolIcon(tool.tool)} words={words}>
        <ToolPlace tool={tool} cellId={message.notebook?.cellId} />
        {/* What failed or was denied has changed nothing. */}
        {tool.diffStats && state !== 'failed' && state !== 'denied' && (
          <DiffStats {...tool.diffStats} />
        )}
        <AskBadge state={state} />
      </RowHead>
      <AskFailure message={message} />
      <AskedElsewhere message={message} />
      {/* While it waits, they stand at the question. */}
      {state !== 'waiting' && (
        <RiskFlagList
          flags={flagsOn(message, placeFacts(tool, message.isProtected))}
        />
      )}
      <ToolBody ts={message.ts} tool={tool} isDone={state === 'done'} />
      {results.map(result => (
        <SearchResult key={result.ts} message={result} />
      ))}
      {state === 'done' && !isByPerson && isAboutNotes(tool) && <MemoryLink />}
    </div>
  );
}

/**
 * What a tool is used on.
 */
function ToolPlace({
  tool,
  cellId
}: {
  tool: Tool;
  cellId: string | undefined;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const modes = useStore(store, ({ state }) => state?.customModes);
  const present = usePresentPath();
  const { path, startLine, regex, query, filePattern, mode } = tool;
  const sought = regex ?? query ?? tool.searchPattern;
  const name = tool.skill ?? tool.command;
  return (
    <>
      {sought && (
        <code className="jp-hdspAgent-chat-tool-sought">{sought}</code>
      )}
      {filePattern && (
        <code className="jp-hdspAgent-chat-tool-sought">{filePattern}</code>
      )}
      {path && path !== '.' && (
        <PlaceLink
          path={path}
          cellId={cellId}
          isOutside={tool.isOutsideWorkspace || isFolder(tool)}
        >
          {startLine &&
            trans.__('%1, from line %2', plainName(present(path)), startLine)}
        </PlaceLink>
      )}
      {name && !path && (
        <code className="jp-hdspAgent-chat-tool-sought">{name}</code>
      )}
      {mode && !name && !path && <span>{modeName(trans, mode, modes)}</span>}
      {tool.kernel && <span>{tool.kernel}</span>}
    </>
  );
}

/**
 * The whole of what a tool does.
 */
function ToolBody({
  ts,
  tool,
  isDone
}: {
  ts: number;
  tool: Tool;
  isDone: boolean;
}): JSX.Element | null {
  const { trans } = usePanel();
  const id = String(ts);
  const { cellEdits, cells, batchDiffs, batchDirs, batchFiles } = tool;
  if (batchDiffs?.length || batchDirs?.length || batchFiles?.length) {
    return <BatchBody id={id} tool={tool} />;
  }
  if (cellEdits?.length) {
    return <CellEdits id={id} path={tool.path} edits={cellEdits} />;
  }
  if (cells?.length) {
    return <CellCodes id={id} path={tool.path} cells={cells} />;
  }
  if (tool.diff) {
    return <Diff id={`${id}:diff`} text={tool.diff} />;
  }
  switch (tool.tool) {
    case 'newFileCreated':
      return tool.content ? (
        <Diff id={`${id}:diff`} text={addedLines(tool.content)} />
      ) : null;
    case 'updateTodoList':
      return <Checklist items={parseChecklist(tool)} />;
    case 'newTask':
      return (
        <>
          <ToolText id={id} text={tool.content} />
          <SubtaskLink ts={ts} />
        </>
      );
    case 'finishTask':
      // Once it is accepted, it follows as the answer.
      return tool.content && !isDone ? (
        <BoundedText
          id={`${id}:result`}
          text={tool.content}
          render={text => <Markdown text={text} />}
        />
      ) : null;
    case 'readFile':
      // The content is only where the file is, and the reason which part of it.
      return <ToolText id={id} text={tool.reason} />;
    case 'readNotebook':
      return <ToolText id={id} text={viewTexts(tool.reason, trans)} />;
    case 'restoreCheckpoint':
    case 'undoRestore':
      // Of which checkpoint, and what becomes of which file.
      return (
        <ToolText
          id={id}
          text={[reasonText(tool.description ?? '', trans), tool.content ?? '']
            .filter(Boolean)
            .join('\n\n')}
        />
      );
    case 'remember':
      return (
        <ToolText
          id={id}
          text={[tool.content, noteScope(tool.source, trans)]
            .filter(Boolean)
            .join('\n\n')}
        />
      );
    default:
      return <ToolText id={id} text={textOf(tool)} />;
  }
}

function ToolText({
  id,
  text
}: {
  id: string;
  text: string | undefined;
}): JSX.Element | null {
  return text ? (
    <div className="jp-hdspAgent-chat-tool-text">
      <BoundedText id={`${id}:text`} text={text} />
    </div>
  ) : null;
}

function textOf({ tool, content, reason, args, description }: Tool): string {
  // Ids of runs and of checkpoints say nothing to a person.
  const why =
    tool === 'waitRun' || tool === 'diffCheckpoint' ? undefined : reason;
  return [description, args, why, content].filter(Boolean).join('\n\n');
}

function isAboutNotes({ tool }: Tool): boolean {
  return tool === 'remember' || tool === 'forget';
}

function isFolder({ tool }: Tool): boolean {
  return (
    tool === 'listFilesTopLevel' ||
    tool === 'listFilesRecursive' ||
    tool === 'searchFiles' ||
    tool === 'codebaseSearch'
  );
}
