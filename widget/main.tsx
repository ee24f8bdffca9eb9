import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/tokens.css'
import './styles/base.css'
import { App } from './app.tsx'
import { joinStore } from './embed.ts'
import { reportErrors } from './error-report.ts'
import { rest } from './parts/rest.ts'
import { surviveTranslators } from './translators.ts'

joinStore()
const reportCaught = reportErrors(
  window,
  (report) => void rest.fetch().then((code) => code.reportError(report)),
)

// Do not report a failed measurement as an error of the page.
const measure = (): void => void rest.fetch().then((code) => code.measure().catch(() => {}))
addEventListener('load', () => setTimeout(measure))

const root = document.getElementById('root')
if (root === null) throw new Error('the document has no #root')
surviveTranslators(root)
// React catches a crash while rendering, so it never reaches the window: report it here.
createRoot(root, { onCaughtError: reportCaught }).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
