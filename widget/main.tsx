import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/tokens.css'
import './styles/base.css'
import './styles/page.css'
import './styles/feedback.css'
import './styles/deposit.css'
import { FALLBACK_LANGUAGE } from '../contract/languages.ts'
import type { MetricsBody } from '../contract/widget-api.ts'
import { App } from './app.tsx'
import { joinStore, pageCookies } from './embed.ts'
import { reportErrors } from './error-report.ts'
import { createApi } from './flow/api.ts'
import { surviveTranslators } from './foreign.ts'
import { storedLanguage } from './storage.ts'
import { createToasts } from './toasts/store.ts'

joinStore()
const api = createApi(fetch.bind(globalThis), pageCookies)
const reportCaught = reportErrors(
  window,
  (report) => void api.reportError(report, storedLanguage() ?? FALLBACK_LANGUAGE),
)

const measure = (): void => {
  const send = (body: MetricsBody) => void api.reportMetrics(body, storedLanguage() ?? FALLBACK_LANGUAGE)
  void import('./metrics.ts').then(({ measurePage }) => measurePage(window, send)).catch(() => {})
}
// The page first: it is measured once the browser has nothing better to do.
addEventListener('load', () => setTimeout(measure))

const after = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** crypto.randomUUID is not there on plain http. */
const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join('-')

const root = document.getElementById('root')
if (root === null) throw new Error('the document has no #root')
surviveTranslators(root)
// The page shows the 404 screen instead of such a crash; somebody must still hear of it.
createRoot(root, { onCaughtError: reportCaught }).render(
  <StrictMode>
    <App toasts={createToasts({ after }, randomId)} />
  </StrictMode>,
)
