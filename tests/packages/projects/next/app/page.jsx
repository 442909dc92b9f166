// Rendered by the server at each request.
import { Report } from "./report.jsx";

export const dynamic = "force-dynamic";

export default function Page() {
  return (
    <main>
      <h1>Reports</h1>
      <Report intent="daily" />
    </main>
  );
}
