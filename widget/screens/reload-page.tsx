import { usePage } from '../page.tsx'

/** A button that reloads the page after a failed load or a crash. */
export function ReloadPage() {
  const { texts } = usePage()
  return (
    <button type="button" className="button primary" onClick={() => location.reload()}>
      {texts.reloadPage}
    </button>
  )
}
