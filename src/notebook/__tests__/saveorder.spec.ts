import { SaveOrder } from '../saveorder';
import { OpenedNotebook } from './openednotebook';

describe('SaveOrder', () => {
  it('should go on after what failed', async () => {
    const opened = await OpenedNotebook.open();
    const order = new SaveOrder(opened.notebooks);
    const { context } = opened;
    const failed = order.inTurn(context, () =>
      Promise.reject(new Error('full'))
    );
    const saved = context.save();
    const done = order.inTurn(context, () =>
      Promise.resolve(context.model.dirty)
    );
    await expect(failed).rejects.toThrow('full');
    await saved;
    expect(await done).toBe(false);
    order.dispose();
    opened.close();
  });
});
