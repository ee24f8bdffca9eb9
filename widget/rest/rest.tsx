/** The rest of a deposit's page, loaded after the field for the trade link. */
import type { ErrorReportBody, MetricsBody } from '../../contract/widget-api.ts'
import { pageCookies } from '../embed.ts'
import { createApi } from '../flow/api.ts'
import type { Flow, RunningFlow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { storedLanguage } from '../storage.ts'
import { createToasts } from '../toasts/store.ts'
import { Messages } from './messages.tsx'
import { runFlow } from './run.ts'
import { DepositTitle } from './title.ts'
import { useStorePage } from './use-store-page.ts'

export { restTexts } from '../i18n/rest.ts'
export { Failed } from './failed.tsx'
export { LinkTrouble } from './link-trouble.tsx'
export { NextStep } from './next-step.tsx'
export { Notices } from './notices.tsx'
export { Owner } from './owner.tsx'

const after = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Replaces crypto.randomUUID, which browsers do not offer on plain http. */
const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join('-')

const toasts = createToasts({ after }, randomId)

/** Continues the flow of a deposit, now that its code is loaded. */
export const continueFlow = (opened: FlowState): RunningFlow => runFlow(opened, toasts)

/** Everything around the screen of a deposit: the tab's title, the messages to the store's page, dialogs and toasts. */
export function Around({ state, flow }: { state: FlowState; flow: Flow }) {
  useStorePage(state)
  return (
    <>
      <DepositTitle state={state} />
      <Messages state={state} flow={flow} toasts={toasts} />
    </>
  )
}

const api = createApi(fetch.bind(globalThis), pageCookies)

export const reportError = (report: ErrorReportBody): void =>
  void api.reportError(report, storedLanguage() ?? 'en')

export async function measure(): Promise<void> {
  const { measurePage } = await import('../metrics.ts')
  measurePage(window, (body: MetricsBody) => void api.reportMetrics(body, storedLanguage() ?? 'en'))
}
