import { Notification } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type {
  CheckpointView,
  OperationView,
  RestorePreview,
  RestoreResult,
  StoreView,
  TimelineView
} from '../../generated/rest';
import type { SideWidget } from '../../ui/sidewidget';
import { OpenedPanel } from '../../panel/__tests__/openedpanel';
import { RestServer } from '../../panel/history/__tests__/restserver';
import { createTimeline } from '../createtimeline';
import { timelineWidget } from '../timelinewidget';

/** A state of the workspace. */
export function checkpoint(
  id: string,
  others: Partial<CheckpointView> = {}
): CheckpointView {
  return {
    id,
    commit: id.repeat(5),
    ts: Date.UTC(2026, 0, 2, 3, 4, 5),
    reason: 'asked for',
    kind: 'asked_for',
    author: 'person',
    notebooks: [],
    variables: [],
    leftOut: [],
    files: 3,
    skipped: 0,
    scope: 'workspace',
    here: false,
    sameFiles: false,
    already: false,
    ...others
  };
}

/** Something that was done; without more, a save. */
export function operation(
  id: string,
  others: Partial<OperationView> = {}
): OperationView {
  return {
    id,
    ts: Date.UTC(2026, 0, 2, 3, 4, 5),
    kind: 'save',
    status: 'done',
    checkpoint: checkpoint(`m-${id}`),
    parts: [],
    written: 0,
    deleted: 0,
    kept: 0,
    undoable: false,
    verified: [],
    ...others
  };
}

export const STORE: StoreView = {
  checkpoints: 2,
  bytes: 2048,
  quotaBytes: 2_000_000_000,
  quotaCheckpoints: 200,
  variablesBytes: 0,
  scope: 'workspace',
  enabled: true
};

/** What a server says of these. */
export function view(
  operations: OperationView[],
  others: Partial<TimelineView> = {}
): TimelineView {
  return {
    workspace: '/work/space',
    here: operations.find(({ checkpoint }) => checkpoint?.here)?.checkpoint,
    operations,
    more: false,
    store: STORE,
    ...others
  };
}

export function preview(others: Partial<RestorePreview> = {}): RestorePreview {
  return {
    target: checkpoint('m-1'),
    notebooks: [],
    variables: [],
    conversationGone: false,
    nothing: false,
    ...others
  };
}

export function result(others: Partial<RestoreResult> = {}): RestoreResult {
  return {
    operation: operation('done', { kind: 'restore', undoable: true }),
    notebooks: [],
    variables: [],
    ...others
  };
}

/** The time line on a page, with a server that answers as each test says. */
export class OpenedTimeline {
  constructor() {
    this.page.begin();
    this.rest.answers.set('GET checkpoints', () => this.view);
    const { services } = this.page.panel;
    this.ui = createTimeline(services, null);
    this.widget = timelineWidget(services, this.ui.View);
  }

  readonly rest = new RestServer();
  readonly page = new OpenedPanel();
  readonly ui: ReturnType<typeof createTimeline>;
  readonly widget: SideWidget;

  /** What the server says of the time line. */
  view: TimelineView = view([]);

  async show(operations: OperationView[], others: Partial<TimelineView> = {}) {
    this.view = view(operations, others);
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

  /** What the rows say. */
  get rows(): (string | null)[] {
    return this.openers.map(
      node =>
        node.querySelector('.jp-hdspAgent-timeline-title')?.textContent ?? null
    );
  }

  /** The buttons that open rows. */
  get openers(): HTMLElement[] {
    return [
      ...this.node.querySelectorAll<HTMLElement>('.jp-hdspAgent-timeline-open')
    ];
  }

  /** The dialog that is open. */
  get dialog(): HTMLElement | null {
    return document.querySelector<HTMLElement>('.jp-Dialog');
  }

  get acceptButton(): HTMLButtonElement | null {
    return (
      this.dialog?.querySelector<HTMLButtonElement>(
        '.jp-Dialog-button.jp-mod-accept'
      ) ?? null
    );
  }

  /** The button with this name, as a screen reader reads it. */
  button(label: string, within: ParentNode = this.node): HTMLButtonElement {
    const found = [...within.querySelectorAll('button')].find(
      button =>
        (button.getAttribute('aria-label') ?? button.textContent) === label
    );
    if (!found) {
      throw new Error(`No button “${label}” in ${this.node.innerHTML}`);
    }
    return found;
  }

  /** The newest thing that was said to the person. */
  get said(): Notification.INotification | undefined {
    return Notification.manager.notifications[0];
  }

  dispose(): void {
    const { dialog, acceptButton } = this;
    const reject = dialog?.querySelector<HTMLElement>('.jp-mod-reject');
    this.page.act(() => (reject ?? acceptButton)?.click());
    this.page.act(() => this.widget.dispose());
    this.ui.model.dispose();
    Notification.dismiss();
    this.page.dispose();
    this.rest.dispose();
  }
}
