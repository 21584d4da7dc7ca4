import { onDemand } from '../header/ondemand';

/**
 * All conversations that are kept.
 */
export const HistoryView = onDemand(
  async () => (await import('./historypage')).HistoryPage
);
