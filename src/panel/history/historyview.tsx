import { onDemand } from '../header/lazycomponent';

/**
 * All conversations that are kept.
 */
export const HistoryView = onDemand(
  async () => (await import('./historypage')).HistoryPage
);
