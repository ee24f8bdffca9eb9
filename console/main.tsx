import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '../widget/styles/tokens.css'
import '../widget/styles/base.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/table.css'
import { App } from './app.tsx'

const root = document.getElementById('root')
if (root === null) throw new Error('the document has no #root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
