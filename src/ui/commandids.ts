/**
 * The ids of the commands; they are public, so none ever changes its meaning.
 */
export namespace CommandIDs {
  export const open = 'hdsp-agent:open';
  export const leave = 'hdsp-agent:leave';
  export const reconnect = 'hdsp-agent:reconnect';
  export const showConnection = 'hdsp-agent:show-connection';

  /**
   * Added by the settings plugin.
   */
  export const openSettings = 'hdsp-agent:open-settings';
  export const manageTrustedFolders = 'hdsp-agent:manage-trusted-folders';
  export const trustFolder = 'hdsp-agent:trust-folder';
  export const distrustFolder = 'hdsp-agent:distrust-folder';
  export const openMemory = 'hdsp-agent:open-memory';
  export const connectAgent = 'hdsp-agent:connect-agent';
  export const manageMcpServers = 'hdsp-agent:manage-mcp-servers';

  /**
   * Added by the cells plugin.
   */
  export const askAboutCell = 'hdsp-agent:ask-about-cell';
  export const fixCell = 'hdsp-agent:fix-cell';
  export const editCell = 'hdsp-agent:edit-cell';
  export const cellAction = 'hdsp-agent:cell-action';
  export const showCellActions = 'hdsp-agent:show-cell-actions';

  /**
   * Added by the ghost text plugin.
   */
  export const toggleGhostText = 'hdsp-agent:toggle-ghost-text';
  export const acceptGhostWord = 'hdsp-agent:accept-ghost-word';
  export const acceptGhostLine = 'hdsp-agent:accept-ghost-line';

  /**
   * Added by the review plugin.
   */
  export const keepCell = 'hdsp-agent:keep-cell';
  export const undoCell = 'hdsp-agent:undo-cell';
  export const keepPart = 'hdsp-agent:keep-part';
  export const undoPart = 'hdsp-agent:undo-part';
  export const keepAll = 'hdsp-agent:keep-all';
  export const undoAll = 'hdsp-agent:undo-all';
  export const nextChange = 'hdsp-agent:next-change';
  export const previousChange = 'hdsp-agent:previous-change';

  /**
   * Added by the follow plugin.
   */
  export const follow = 'hdsp-agent:follow-agent';

  /**
   * Added by the panel's header.
   */
  export const newConversation = 'hdsp-agent:new-conversation';
  export const showHistory = 'hdsp-agent:show-history';
  export const search = 'hdsp-agent:search';
  export const showConversation = 'hdsp-agent:show-conversation';
  export const nextConversation = 'hdsp-agent:next-conversation';
  export const previousConversation = 'hdsp-agent:previous-conversation';
  export const closeConversation = 'hdsp-agent:close-conversation';
  export const renameConversation = 'hdsp-agent:rename-conversation';
  export const favoriteConversation = 'hdsp-agent:favorite-conversation';
  export const useMemory = 'hdsp-agent:use-memory';
  export const forkConversation = 'hdsp-agent:fork-conversation';
  export const showCheckpoints = 'hdsp-agent:show-checkpoints';
  export const exportConversation = 'hdsp-agent:export-conversation';
  export const shareConversation = 'hdsp-agent:share-conversation';
  export const copyConversation = 'hdsp-agent:copy-conversation';
  export const copyRequest = 'hdsp-agent:copy-request';
  export const deleteConversation = 'hdsp-agent:delete-conversation';

  /**
   * Added by the context plugin.
   */
  export const showContext = 'hdsp-agent:show-context';

  /**
   * Added by the panel's questions.
   */
  export const approve = 'hdsp-agent:approve';
  export const deny = 'hdsp-agent:deny';
  export const stop = 'hdsp-agent:stop';
  export const goToQuestion = 'hdsp-agent:go-to-question';
  export const toggleAutoApproval = 'hdsp-agent:toggle-auto-approval';

  /**
   * Added by the conversation itself.
   */
  export const find = 'hdsp-agent:find';
  export const showNewest = 'hdsp-agent:show-newest';

  /**
   * Added for the conversation that a notebook carries.
   */
  export const removeNotebookConversation =
    'hdsp-agent:remove-notebook-conversation';

  /**
   * Added by the changes of conversations.
   */
  export const undoChange = 'hdsp-agent:undo-change';
  export const redoChange = 'hdsp-agent:redo-change';

  /**
   * Added by the panel's composer.
   */
  export const ask = 'hdsp-agent:ask';
  export const attachCell = 'hdsp-agent:attach-cell';
  export const attachSelection = 'hdsp-agent:attach-selection';
  export const attachOutput = 'hdsp-agent:attach-output';
  export const attachError = 'hdsp-agent:attach-error';
  export const nextMode = 'hdsp-agent:next-mode';
  export const previousMode = 'hdsp-agent:previous-mode';
  export const nextProfile = 'hdsp-agent:next-profile';

  /**
   * Added by the documents plugin.
   */
  export const attachDocument = 'hdsp-agent:attach-document';
  export const askAboutDocument = 'hdsp-agent:ask-about-document';

  /**
   * Added by the placement plugin.
   */
  export const movePanel = 'hdsp-agent:move-panel';

  /**
   * Added by the time line plugin.
   */
  export const openTimeline = 'hdsp-agent:open-time-line';
  export const saveCheckpoint = 'hdsp-agent:save-checkpoint';
  export const restoreCheckpoint = 'hdsp-agent:restore-checkpoint';
  export const restoreCell = 'hdsp-agent:restore-cell';
  export const restartToCell = 'hdsp-agent:restart-to-cell';
  export const undoRestore = 'hdsp-agent:undo-restore';
  export const restoreVariable = 'hdsp-agent:restore-variable';

  /**
   * Added by the variables plugin.
   */
  export const openVariables = 'hdsp-agent:open-variables';

  /**
   * Added by the verify plugin.
   */
  export const verifyNotebook = 'hdsp-agent:verify-notebook';
  export const showVerification = 'hdsp-agent:show-verification';
}
