import type { GlobalSettings } from '../../../generated/wire';

/**
 * The settings that let the agent do one kind of action without asking, those
 * that can do little harm first.
 */
export const APPROVED_CLASSES = [
  'alwaysAllowReadOnly',
  'alwaysAllowWrite',
  'alwaysAllowRunCells',
  'alwaysAllowExecute',
  'alwaysAllowInstallPackages',
  'alwaysAllowNetwork',
  'alwaysAllowMcp',
  'alwaysAllowModeSwitch',
  'alwaysAllowSubtasks',
  'alwaysAllowFollowupQuestions',
  'alwaysAllowReadOnlyOutsideWorkspace',
  'alwaysAllowWriteOutsideWorkspace',
  'alwaysAllowWriteProtected'
] as const satisfies readonly (keyof GlobalSettings)[];

/**
 * One of these settings.
 */
export type ApprovedClass = (typeof APPROVED_CLASSES)[number];

/**
 * What can be taken back, or stays within the conversation, needs no warning.
 */
export const HARMLESS: ReadonlySet<ApprovedClass> = new Set<ApprovedClass>([
  'alwaysAllowReadOnly',
  'alwaysAllowWrite',
  'alwaysAllowModeSwitch',
  'alwaysAllowSubtasks'
]);

/**
 * The limits up to which the agent goes on without asking.
 */
export const LIMITS = [
  'allowedMaxRequests',
  'allowedMaxCost'
] as const satisfies readonly (keyof GlobalSettings)[];
