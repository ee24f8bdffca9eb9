import './message-page.css'
import { usePage } from '../page.tsx'
import { useTitle } from '../ui/hooks.ts'
import { Header } from './header.tsx'

export function NotFound() {
  const { texts } = usePage()
  useTitle(`${texts.notFound} – Tradetill`)
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
      <main className="message-page">
        <p className="message-code" aria-hidden="true">
          404
        </p>
        <h1>{texts.notFound}</h1>
        <p>{texts.notFoundHint}</p>
      </main>
    </>
  )
}
