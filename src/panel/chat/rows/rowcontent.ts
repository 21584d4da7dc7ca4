import type * as React from 'react';

import type { ClineMessage } from '../../../generated/wire';
import { AnswerRow, ReasoningRow, ResultRow } from './answerrow';
import { CellRunRow, KernelRow } from '../toolrows/cellrunrow';
import { CheckpointRow } from './checkpointrow';
import { CommandRow, OutputRow } from '../toolrows/commandrow';
import { CondenseRow, TruncationRow } from './condenserow';
import { LimitRow, MistakesRow, QuestionRow } from './questionrow';
import { ImageRow, NoteRow } from './noterow';
import { ManyToolsRow } from './manytoolsrow';
import { McpRow } from '../toolrows/mcprow';
import { ProblemRow } from './problemrow';
import { SearchResultRow } from '../toolrows/searchresult';
import { RequestRow, WaitRow } from './requestrow';
import { SubtaskResultRow } from './subtaskrow';
import { TodosRow } from './todosrow';
import { ToolRow } from '../toolrows/toolrow';
import { UserRow } from './userrow';

/**
 * What a row shows.
 */
export interface IRowContent {
  readonly message: ClineMessage;

  /**
   * The messages that are shown within it.
   */
  readonly parts: readonly number[];
}

/**
 * The component that shows a message.
 *
 * @param isFirst - Whether the conversation begins with it: then it is what
 * the person wanted, though its kind is that of the agent's words.
 */
export function contentOf(
  { ask, say }: ClineMessage,
  isFirst: boolean
): React.ComponentType<IRowContent> {
  const kind = ask ?? say ?? '';
  return kind === 'text' && isFirst ? UserRow : (CONTENTS[kind] ?? NoteRow);
}

const CONTENTS: Readonly<Record<string, React.ComponentType<IRowContent>>> = {
  user_feedback: UserRow,
  user_feedback_diff: ToolRow,
  text: AnswerRow,
  completion_result: ResultRow,
  reasoning: ReasoningRow,
  tool: ToolRow,
  command: CommandRow,
  command_output: OutputRow,
  cell_executed: CellRunRow,
  kernel_status: KernelRow,
  error: ProblemRow,
  diff_error: ProblemRow,
  rooignore_error: ProblemRow,
  api_req_failed: ProblemRow,
  condense_context_error: ProblemRow,
  api_req_started: RequestRow,
  api_req_retry_delayed: WaitRow,
  api_req_rate_limit_wait: WaitRow,
  condense_context: CondenseRow,
  sliding_window_truncation: TruncationRow,
  subtask_result: SubtaskResultRow,
  followup: QuestionRow,
  mistake_limit_reached: MistakesRow,
  auto_approval_max_req_reached: LimitRow,
  use_mcp_server: McpRow,
  mcp_server_response: McpRow,
  too_many_tools_warning: ManyToolsRow,
  codebase_search_result: SearchResultRow,
  user_edit_todos: TodosRow,
  checkpoint_saved: CheckpointRow,
  image: ImageRow
};
