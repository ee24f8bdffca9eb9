import { usePage } from '../page.tsx'

/** Loads what could not be loaded, or what broke. */
export function ReloadPage() {
  const { texts } = usePage()
  return (
    <button type="button" className="button primary" onClick={() => location.reload()}>
      {texts.reloadPage}
    </button>
  )
}
