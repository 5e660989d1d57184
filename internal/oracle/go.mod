module github.com/messaging-service/messaging-go/internal/oracle

go 1.26.0

require (
	github.com/messaging-service/messaging-go v0.0.0
	github.com/warthog618/sms v0.3.0
)

require github.com/google/go-querystring v1.2.0 // indirect

replace github.com/messaging-service/messaging-go => ../..
