import './message-page.css'
import { usePage } from '../page.tsx'
import { useTitle } from '../ui/hooks.ts'
import { Header } from './header.tsx'
import { ReloadPage } from './reload-page.tsx'

/** `isCrash`: the address is right, but its page crashed. */
export function NotFound({ isCrash = false }: { isCrash?: boolean }) {
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
        <p>{isCrash ? texts.crashHint : texts.notFoundHint}</p>
        {isCrash && <ReloadPage />}
      </main>
    </>
  )
}
