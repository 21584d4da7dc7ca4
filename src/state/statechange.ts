import type {
  CommandExecutionStatus,
  CommandStarted,
  ExtensionMessage,
  ExtensionState
} from '../generated/wire';

/**
 * The state the server told, without the messages.
 */
export type AgentState = Readonly<Omit<ExtensionState, 'clineMessages'>>;

/**
 * What a message of the server makes different in the state; `null` if nothing.
 *
 * @param state - The state so far; `null` before the server told it.
 *
 * @param taskId - The conversation on screen. Of others nothing counts that is
 * about one conversation.
 */
export function stateChange(
  state: AgentState | null,
  taskId: string | null,
  message: ExtensionMessage
): Partial<AgentState> | null {
  switch (message.type) {
    case 'taskProgress':
      return message.taskId === taskId
        ? {
            currentTaskStatus: message.status,
            currentTaskTodos: message.todos,
            messageQueue: message.messageQueue,
            tokenUsage: message.tokenUsage,
            modelRoom: message.modelRoom,
            autoAnswer: message.autoAnswer
          }
        : null;
    case 'conversationMarksUpdated':
    case 'conversationChanged':
      return message.taskId === taskId
        ? { currentTaskMarks: message.marks }
        : null;
    case 'currentCheckpointUpdated': {
      const { taskId: of = taskId, text } = message;
      return of === taskId ? { currentCheckpoint: text } : null;
    }
    case 'commandExecutionStatus': {
      const { taskId: of = taskId, text } = message;
      const runningCommands =
        of === taskId
          ? Private.commandsAfter(state?.runningCommands ?? [], text)
          : null;
      return runningCommands && { runningCommands };
    }
    case 'openTasksUpdated':
      return { openTasks: message.openTasks };
    case 'taskHistoryItemUpdated': {
      const { taskHistoryItem } = message;
      return taskHistoryItem.id === state?.currentTaskId
        ? { currentTaskItem: taskHistoryItem }
        : null;
    }
    case 'settingsUpdated': {
      const { settings, fixed } = message;
      const { mode, customModes = [] } = settings;
      return { settings, fixed, mode, customModes };
    }
    case 'profilesUpdated': {
      const { type: _, listApiConfig, ...choices } = message;
      return { listApiConfigMeta: listApiConfig, ...choices };
    }
    case 'secretsUpdated':
      return { secretStatus: message.status };
    case 'noticesUpdated':
      return { notices: message.notices };
    default:
      // Others are for who asked, or for a view, which hears of them from the client.
      return null;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The commands that run after one began or ended; `null` if they are the same.
   */
  export function commandsAfter(
    running: readonly CommandStarted[],
    text: string
  ): CommandStarted[] | null {
    const told = commandStatus(text);
    const others = running.filter(
      ({ executionId }) => executionId !== told?.executionId
    );
    switch (told?.status) {
      case 'started':
        return [...others, told];
      case 'exited':
        return others.length < running.length ? others : null;
      default:
        return null;
    }
  }

  function commandStatus(text: string): CommandExecutionStatus | null {
    try {
      return JSON.parse(text) as CommandExecutionStatus;
    } catch {
      // Of another version; the next state has the commands that run.
      return null;
    }
  }
}
