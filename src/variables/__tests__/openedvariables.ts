import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { VariablesView, VariableView } from '../../generated/rest';
import { OpenedPanel } from '../../panel/__tests__/openedpanel';
import { RestServer } from '../../panel/history/__tests__/restserver';
import type { SideWidget } from '../../ui/sidewidget';
import { createVariables } from '../createvariables';
import { variablesWidget } from '../variableswidget';

export const PATH = 'work/prices.ipynb';

/** A notebook in front, as far as the variables look at it. */
export class FrontNotebook {
  constructor(path: string = PATH) {
    this.context = {
      path,
      localPath: path,
      pathChanged: new Signal<object, string>({})
    };
  }

  readonly isDisposed = false;
  readonly context: {
    readonly path: string;
    readonly localPath: string;
    readonly pathChanged: Signal<object, string>;
  };
  readonly sessionContext = {
    statusChanged: new Signal<object, string>({}),
    iopubMessage: new Signal<object, object>({}),
    kernelChanged: new Signal<object, object>({})
  };
}

/** Which notebook is in front. */
class FrontTracker {
  readonly currentChanged = new Signal<this, FrontNotebook | null>(this);
  currentWidget: FrontNotebook | null = new FrontNotebook();
}

/** The kernel has done what was asked. */
export function idle(parent_header: object): object {
  return {
    header: { msg_type: 'status' },
    parent_header,
    content: { execution_state: 'idle' }
  };
}

/** A variable. */
export function variable(
  name: string,
  others: Partial<VariableView> = {}
): VariableView {
  return {
    name,
    type: 'int',
    columns: [],
    head: '1',
    hasTextColumns: true,
    ...others
  };
}

/** The variables on a page, with a server that answers as each test says. */
export class OpenedVariables {
  constructor() {
    this.page.begin();
    const notebooks = this.tracker as unknown as INotebookTracker;
    const services = { ...this.page.panel.services, notebooks };
    this.ui = createVariables(services, () => this.widget?.isVisible ?? false);
    this.widget = variablesWidget(services, this.ui.View);
    this.widget.shown.connect(() => void this.ui.model.refreshValues());
    this.rest.answers.set('POST variables', ({ body }) => ({
      ...this.view,
      path: (body as { path: string }).path
    }));
  }

  readonly rest = new RestServer();
  readonly tracker = new FrontTracker();
  readonly page = new OpenedPanel();
  readonly ui: ReturnType<typeof createVariables>;
  readonly widget: SideWidget;

  /** What the server tells. */
  view: VariablesView = { path: PATH, variables: [], unseen: [] };

  async show(
    variables: VariableView[],
    others: Partial<VariablesView> = {}
  ): Promise<void> {
    this.view = {
      path: PATH,
      kernel: {
        name: 'Python 3',
        language: 'python',
        state: 'idle',
        answers: 'now'
      },
      variables,
      unseen: [],
      ...others
    };
    await this.settle(() => Widget.attach(this.widget, document.body));
  }

  /** Do something, and let promises and the page follow. */
  async settle(work: () => void = () => undefined): Promise<void> {
    await this.page.settle(work);
    await this.page.settle();
  }

  get node(): HTMLElement {
    return this.widget.node;
  }

  /** The names, in the order in which they stand. */
  get names(): (string | null)[] {
    return [...this.node.querySelectorAll('.jp-hdspAgent-variable-name')].map(
      node => node.textContent
    );
  }

  /** The button with this text. */
  button(text: string): HTMLButtonElement {
    const found = [...this.node.querySelectorAll('button')].find(button =>
      button.textContent?.includes(text)
    );
    if (!found) {
      throw new Error(`No button “${text}” in ${this.node.innerHTML}`);
    }
    return found;
  }

  /** The kernel is said to be so, and what follows of it. */
  async status(status: string): Promise<void> {
    await this.page.during(async () => {
      this.tracker.currentWidget?.sessionContext.statusChanged.emit(status);
      await jest.advanceTimersByTimeAsync(400);
    });
    await this.page.settle();
  }

  /** The kernel publishes these, and what follows of it. */
  async published(...messages: object[]): Promise<void> {
    await this.page.during(async () => {
      for (const message of messages) {
        this.tracker.currentWidget?.sessionContext.iopubMessage.emit(message);
      }
      await jest.advanceTimersByTimeAsync(400);
    });
    await this.page.settle();
  }

  /** Somebody ran a cell. */
  async ran(): Promise<void> {
    const parent_header = { msg_id: 'run', msg_type: 'execute_request' };
    await this.published(
      { header: { msg_type: 'execute_input' }, parent_header, content: {} },
      idle(parent_header)
    );
  }

  /** Another notebook comes to the front. */
  async front(notebook: FrontNotebook | null): Promise<void> {
    await this.settle(() => {
      this.tracker.currentWidget = notebook;
      this.tracker.currentChanged.emit(notebook);
    });
  }

  dispose(): void {
    this.ui.model.dispose();
    this.page.act(() => this.widget.dispose());
    this.page.dispose();
    this.rest.dispose();
  }
}
