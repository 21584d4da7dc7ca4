import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel, KernelSpec, Session } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { ScriptedClient } from '../../__tests__/openednotebook';
import { KernelReconnector } from '../kernelreconnector';

/** The session of a notebook, as Lab has it. */
class FakeSessionContext {
  constructor(readonly path: string) {}

  readonly kernelChanged = new Signal<this, unknown>(this);
  readonly sessionChanged = new Signal<this, unknown>(this);
  readonly asked: Partial<Kernel.IModel>[] = [];
  kernelDisplayStatus = 'idle';
  session: { kernel: object | null; dispose: () => void } | null = null;

  give(id: string, name = 'python3', status = 'idle'): void {
    this.session = {
      kernel: { id, name, status },
      dispose: () => this.lose()
    };
    this.kernelChanged.emit(null);
  }

  lose(): void {
    this.session = null;
    this.sessionChanged.emit(null);
  }

  async changeKernel(model: Partial<Kernel.IModel>): Promise<void> {
    this.asked.push(model);
    await Promise.resolve();
    this.give(model.id ?? `new ${model.name}`, model.name);
  }
}

/** A notebook that is open. */
class FakeContext {
  constructor(path: string) {
    this.sessionContext = new FakeSessionContext(path);
  }

  readonly sessionContext: FakeSessionContext;
  readonly disposed = new Signal<this, void>(this);
  isDisposed = false;
}

const settled = () => new Promise(resolve => setTimeout(resolve, 0));

describe('notebooks whose kernels ended with the server', () => {
  let client: ScriptedClient;
  let open: (panel: NotebookPanel) => IDisposable;
  let reconnector: KernelReconnector;
  let kernels: Partial<Kernel.IModel>[];
  let sessions: Partial<Session.IModel>[];
  let listKernels: jest.Mock;
  let reconnected: string[];
  let complaint: jest.SpyInstance;

  beforeEach(() => {
    complaint = jest.spyOn(console, 'warn').mockImplementation();
    client = new ScriptedClient();
    kernels = [];
    sessions = [];
    reconnected = [];
    listKernels = jest.fn(() => Promise.resolve(kernels));
    reconnector = new KernelReconnector({
      client: client as unknown as KernelReconnector.IOptions['client'],
      notebooks: {
        each: add => {
          open = add;
          return { isDisposed: false, dispose: () => undefined };
        },
        pathOf: ({ context }) =>
          (context as unknown as FakeContext).sessionContext.path.replace(
            'RTC:',
            ''
          )
      },
      specs: () =>
        ({
          kernelspecs: { python3: {}, ir: {} }
        }) as unknown as KernelSpec.ISpecModels,
      listKernels: listKernels as () => Promise<Kernel.IModel[]>,
      listSessions: () => Promise.resolve(sessions as Session.IModel[])
    });
    reconnector.reconnected.connect((_, context) => {
      reconnected.push(context.sessionContext.path);
    });
  });

  afterEach(() => {
    reconnector.dispose();
    complaint.mockRestore();
  });

  const opened = (path = 'a.ipynb'): FakeContext => {
    const context = new FakeContext(path);
    open({ context } as unknown as NotebookPanel);
    return context;
  };

  /** The connection is lost; meanwhile something happens in the page. */
  const restart = async (meanwhile: () => void = () => undefined) => {
    client.setPhase('reconnecting');
    meanwhile();
    client.place.epoch = `${client.place.epoch} again`;
    client.setPhase('open');
    await settled();
  };

  it('should get new ones of the same kind', async () => {
    const [one, other] = [opened(), opened('b.ipynb')];
    one.sessionContext.give('1');
    other.sessionContext.give('2', 'ir');
    await restart(() => one.sessionContext.lose());
    expect(one.sessionContext.asked).toEqual([{ name: 'python3' }]);
    expect(other.sessionContext.asked).toEqual([{ name: 'ir' }]);
    expect(reconnected).toEqual(['a.ipynb', 'b.ipynb']);
    await restart();
    expect(one.sessionContext.asked).toHaveLength(2);
  });

  it('should get the one that was started for them meanwhile', async () => {
    const one = opened();
    one.sessionContext.give('1');
    sessions = [
      { path: 'b.ipynb', kernel: { id: 'other', name: 'python3' } },
      { path: 'a.ipynb', kernel: { id: 'of the agent', name: 'python3' } }
    ];
    kernels = [{ id: 'of the agent' }, { id: 'other' }];
    await restart();
    expect(one.sessionContext.asked).toEqual([{ id: 'of the agent' }]);
    expect(reconnected).toEqual(['a.ipynb']);
  });

  it('should get that of the file they share', async () => {
    const one = opened('RTC:a.ipynb');
    one.sessionContext.give('1');
    sessions = [{ path: 'a.ipynb', kernel: { id: '2', name: 'python3' } }];
    await restart();
    expect(one.sessionContext.asked).toEqual([{ id: '2' }]);
  });

  it('should keep one that lives', async () => {
    const one = opened();
    one.sessionContext.give('1');
    kernels = [{ id: '1' }];
    await restart();
    expect(one.sessionContext.asked).toEqual([]);
    expect(reconnected).toEqual([]);
  });

  it('should keep one when the connection alone was lost', async () => {
    const one = opened();
    one.sessionContext.give('1');
    client.setPhase('reconnecting');
    client.setPhase('open');
    await settled();
    expect(listKernels).not.toHaveBeenCalled();
    expect(one.sessionContext.asked).toEqual([]);
  });

  it('should get none if they had none, or it was shut down before', async () => {
    const [one, other] = [opened(), opened('b.ipynb')];
    other.sessionContext.give('2');
    other.sessionContext.lose();
    await restart();
    expect(one.sessionContext.asked).toEqual([]);
    expect(other.sessionContext.asked).toEqual([]);
  });

  it.each<[string, (context: FakeContext) => void]>([
    [
      'which has another kernel',
      ({ sessionContext }) => sessionContext.give('2')
    ],
    [
      'to which one is given just now',
      ({ sessionContext }) => {
        sessionContext.kernelDisplayStatus = 'initializing';
      }
    ],
    [
      'that is closed',
      context => {
        context.isDisposed = true;
      }
    ]
  ])('should let be one %s', async (_, meanwhile) => {
    const one = opened();
    one.sessionContext.give('1');
    listKernels.mockImplementation(() => {
      meanwhile(one);
      return Promise.resolve([]);
    });
    await restart();
    expect(one.sessionContext.asked).toEqual([]);
    expect(reconnected).toEqual([]);
  });

  it('should get none of a kind that there is no more', async () => {
    const one = opened();
    one.sessionContext.give('1', 'gone');
    await restart();
    expect(one.sessionContext.asked).toEqual([]);
  });

  it('should be let be while the server does not say which kernels run', async () => {
    const one = opened();
    one.sessionContext.give('1');
    listKernels.mockRejectedValueOnce(new Error('503'));
    await restart();
    expect(one.sessionContext.asked).toEqual([]);
    expect(complaint).toHaveBeenCalledTimes(1);
    await restart();
    expect(one.sessionContext.asked).toEqual([{ name: 'python3' }]);
  });

  it('should cost the others nothing if one gets none', async () => {
    const [one, other] = [opened(), opened('b.ipynb')];
    one.sessionContext.give('1');
    other.sessionContext.give('2');
    jest
      .spyOn(one.sessionContext, 'changeKernel')
      .mockRejectedValueOnce(new Error('no memory'));
    await restart();
    expect(reconnected).toEqual(['b.ipynb']);
    expect(complaint).toHaveBeenCalledTimes(1);
  });

  it('should be watched once, however many views there are', async () => {
    const one = opened();
    open({ context: one } as unknown as NotebookPanel).dispose();
    one.sessionContext.give('1');
    await restart();
    expect(reconnected).toEqual(['a.ipynb']);
    one.disposed.emit();
    await restart();
    expect(one.sessionContext.asked).toHaveLength(1);
  });

  it('should get none when nobody cares any more', async () => {
    const one = opened();
    one.sessionContext.give('1');
    reconnector.dispose();
    await restart();
    expect(listKernels).not.toHaveBeenCalled();
    expect(one.sessionContext.asked).toEqual([]);
  });
});
