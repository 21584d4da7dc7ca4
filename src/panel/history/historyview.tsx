import { lazyComponent } from '../../ui/lazycomponent';

/**
 * All conversations that are kept.
 */
export const HistoryView = lazyComponent(
  async () => (await import('./historypage')).HistoryPage
);
